import { once } from 'node:events';
import pTimeout from 'p-timeout';
import { openSocket } from '../../cdp/transport/open-socket.ts';
import { LeaseError, PoolwrightError } from '../../errors.ts';
import type { ServiceClient } from '../../service/index.ts';

/** How long a hosted browser takes, measured on one that is created for it and stopped. All in ms. */
export interface Trial {
  create: number;
  connect: number;
  /** Median of five. */
  roundTrip: number;
}

/** The least a session may live, in seconds, should it not be stopped (section 8 of the service document). */
const TRIAL_SECONDS = 60;
const ROUND_TRIPS = 5;

/** @throws ServiceError, LeaseError `CONNECT_FAILED`; the session is stopped in any case */
export async function tryOneSession(client: ServiceClient, timeout: number): Promise<Trial> {
  const since = performance.now();
  const note = `poolwright doctor ${Date.now().toString(36)}-${process.pid}`;
  const { sessionId, cdpUrl } = await client.createSession({ duration: TRIAL_SECONDS, note });
  const create = performance.now() - since;
  try {
    if (!cdpUrl) throw new LeaseError('CONNECT_FAILED', `Session ${sessionId} has no CDP address.`, { sessionId });
    return { create, ...(await connect(cdpUrl, sessionId, timeout)) };
  } finally {
    await client.stopSession(sessionId);
  }
}

async function connect(cdpUrl: string, sessionId: string, timeout: number): Promise<Omit<Trial, 'create'>> {
  const since = performance.now();
  const { socket, cut } = await openSocket(cdpUrl, { timeout, sessionId });
  try {
    const connected = performance.now() - since;
    socket.resume();
    const trips: number[] = [];
    for (let id = 1; id <= ROUND_TRIPS; id += 1) {
      const asked = performance.now();
      const message = new PoolwrightError('TIMEOUT', `The browser did not respond within ${timeout} ms.`);
      const responded = pTimeout(once(socket, 'message'), { milliseconds: timeout, message });
      socket.send(JSON.stringify({ id, method: 'Browser.getVersion' }));
      await responded;
      trips.push(performance.now() - asked);
    }
    trips.sort((a, b) => a - b);
    return { connect: connected, roundTrip: trips[Math.floor(trips.length / 2)] ?? 0 };
  } finally {
    socket.close();
    cut();
  }
}

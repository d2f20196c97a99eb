import { startRelay } from '../../src/relay/server.ts';
import { openDistantPort } from './distant-port.ts';

const SECRET = 'the secret of a benchmark, long enough';

/** A relay near the browsers, and far from here. */
export interface DistantRelay {
  address: string;
  secret: string;
  stop(): Promise<void>;
}

/** @param playwrights directories of `playwright-core`, by version @param rtt to the relay and back, in ms */
export async function startDistantRelay(playwrights: Map<string, string>, rtt: number): Promise<DistantRelay> {
  const relay = await startRelay({
    host: '127.0.0.1',
    port: 0,
    tls: null,
    secret: SECRET,
    allowed: { hosts: ['127.0.0.1'], allowPrivate: true },
    playwrights,
    limits: { leases: 10, memoryMB: 1_000, minutes: 60 },
    user: undefined,
    onLog: (line) => console.error(line),
  });
  const distant = await openDistantPort(relay.port, rtt);
  return {
    address: `ws://127.0.0.1:${distant.port}`,
    secret: SECRET,
    stop: async () => {
      distant.close();
      await relay.stop();
    },
  };
}

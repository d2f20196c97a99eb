import { ServiceClient } from 'poolwright/client';
import { type Emulator, type EmulatorOptions, startEmulator } from 'poolwright/emulator';

/** The service that a run talks to: an emulator outside of the run, so that what the run leaves behind can be seen. */
export interface TestService {
  emulator: Emulator;
  client: ServiceClient;
  /** What a user sets in the shell. */
  env: Record<string, string>;
  /** IDs of sessions that still run. */
  running(): Promise<string[]>;
  /** How many sessions there ever were. */
  allSessions(): Promise<number>;
  stop(): Promise<void>;
}

/** What `npm run test:distance` sets: how far away browsers are, in ms, and whether round trips are hidden. */
const { TEST_RTT = '0', TEST_AHEAD } = process.env;

/** Starts one. */
export async function startService(options: EmulatorOptions = {}): Promise<TestService> {
  const emulator = await startEmulator({ allowLoopback: true, rtt: Number(TEST_RTT), ...options });
  const client = new ServiceClient({ baseURL: emulator.baseURL, apiKey: emulator.apiKey });
  const ids = async (status?: 'active' | 'starting') => {
    const found: string[] = [];
    for await (const session of client.iterateSessions(status ? { status } : {})) found.push(session.sessionId);
    return found;
  };
  return {
    emulator,
    client,
    env: {
      POOLWRIGHT_BASE_URL: emulator.baseURL,
      POOLWRIGHT_API_KEY: emulator.apiKey,
      ...(TEST_AHEAD !== undefined && { POOLWRIGHT_AHEAD: TEST_AHEAD }),
    },
    running: async () => [...(await ids('active')), ...(await ids('starting'))],
    allSessions: async () => (await ids()).length,
    stop: async () => {
      await client.close();
      await emulator.stop();
    },
  };
}

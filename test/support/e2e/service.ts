import { ServiceClient } from 'poolwright/client';
import { type Emulator, type EmulatorOptions, startEmulator } from 'poolwright/emulator';

/** The service of a run: an emulator outside the run, so that a test can see what the run leaves behind. */
export interface TestService {
  emulator: Emulator;
  client: ServiceClient;
  /** The variables that a user sets in the shell. */
  env: Record<string, string>;
  /** Returns the IDs of running sessions. */
  running(): Promise<string[]>;
  /** Returns the number of all sessions so far. */
  allSessions(): Promise<number>;
  stop(): Promise<void>;
}

/** Set by `node scripts/distance.mjs`: the browsers' round-trip time in ms, and whether latency is hidden. */
const { TEST_RTT = '0', TEST_AHEAD } = process.env;

/** Starts a service. */
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

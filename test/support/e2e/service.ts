import { ServiceClient } from 'poolwright/client';
import { type Emulator, type FaultRule, startEmulator } from 'poolwright/emulator';
import { runningIds, sessionIds } from '../session-ids.ts';
import { startStubEmulator, type TestOptions } from '../stub/start.ts';

/** The service of a run: an emulator outside the run, so that a test can see what the run leaves behind. */
export interface TestService {
  emulator: Emulator;
  client: ServiceClient;
  /** The variables that a user sets in the shell. */
  env: Record<string, string>;
  /** Returns the IDs of running sessions. */
  running(): Promise<string[]>;
  /** Adds faults to those that it has. */
  addFaults(faults: readonly FaultRule[]): Promise<void>;
  /** Returns the number of all sessions so far. */
  allSessions(): Promise<number>;
  stop(): Promise<void>;
}

/** Set by `node scripts/distance.mjs`: the browsers' round-trip time in ms, and whether latency is hidden. */
const { TEST_RTT = '0', TEST_AHEAD } = process.env;

/** Starts a service. */
export async function startService(options: TestOptions = {}): Promise<TestService> {
  const start = options.browser === 'stub' ? startStubEmulator : startEmulator;
  const emulator = await start({ allowLoopback: true, rtt: Number(TEST_RTT), ...options });
  const client = new ServiceClient({ baseURL: emulator.baseURL, apiKey: emulator.apiKey });
  return {
    emulator,
    client,
    env: {
      POOLWRIGHT_BASE_URL: emulator.baseURL,
      POOLWRIGHT_API_KEY: emulator.apiKey,
      ...(TEST_AHEAD !== undefined && { POOLWRIGHT_AHEAD: TEST_AHEAD }),
    },
    running: () => runningIds(client),
    allSessions: async () => (await sessionIds(client)).length,
    addFaults: async (faults) => {
      const response = await fetch(`${emulator.baseURL}/__emulator/faults`, {
        method: 'POST',
        headers: { authorization: `Bearer ${emulator.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ faults }),
      });
      if (!response.ok) throw new Error(await response.text());
    },
    stop: async () => {
      await client.close();
      await emulator.stop();
    },
  };
}

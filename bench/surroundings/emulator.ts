import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { firstJsonLine } from '../../src/common/platform/streams.ts';
import { ServiceClient } from '../../src/service/client.ts';

/** The built emulator in a separate process. */
export interface EmulatorProcess {
  baseURL: string;
  apiKey: string;
  client: ServiceClient;
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 60_000;
const FILE = 'dist/emulator-main.js';

/**
 * @param startDelay how much longer each browser takes to start, in ms
 * @param rtt to the browsers and back, in ms
 * @param allowLoopback whether browsers reach this machine's loopback by themselves
 */
export async function startEmulator(startDelay = 0, rtt = 0, allowLoopback = true): Promise<EmulatorProcess> {
  const { child, answer } = await launchEmulator({
    startDelay,
    rtt,
    allowLoopback,
    // Neither shall end a long measurement.
    concurrentBrowsers: 100,
    balanceCents: 1_000_000_000,
  });
  const { baseURL, apiKey } = answer;
  const client = new ServiceClient({ baseURL, apiKey });
  return {
    baseURL,
    apiKey,
    client,
    stop: async () => {
      await client.close();
      await end(child);
    },
  };
}

/** Starts the process and waits until it listens. It ends with this one at the latest: its pipe breaks then. */
export async function launchEmulator(options: object) {
  const child = spawn(process.execPath, [FILE], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.write(`${JSON.stringify(options)}\n`);
  const answer = (await firstJsonLine(child.stdout, START_TIMEOUT_MS)) as { baseURL: string; apiKey: string };
  if (!answer.baseURL) throw new Error(`The emulator did not start: ${JSON.stringify(answer)}`);
  return { child, answer };
}

/** Ends it and every browser. */
export async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.stdin?.end();
  await exited;
}

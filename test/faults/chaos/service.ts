import { ServiceClient } from 'poolwright/client';
import { startService } from '../../support/e2e/service.ts';
import { type EmulatorProcess, startEmulatorProcess } from '../../support/emulator-process.ts';
import { send } from '../../support/processes.ts';
import type { ChaosPlan } from './plan.ts';
import { type SlowWay, slowWayTo } from './slow-service.ts';

/** The service of a random run, outside the run. */
export interface ChaosService {
  client: ServiceClient;
  /** The variables that a user sets in the shell. */
  env: Record<string, string>;
  /** The process that runs its browsers: this one, unless the service will be killed. */
  pid: number;
  addFaults(): Promise<void>;
  clearFaults(): Promise<void>;
  /** After a kill, starts an empty service at the same address with the same key. */
  startAgain(): Promise<void>;
  /** Resumes a frozen service. */
  goOn(): void;
  /** Safe to call again. */
  stop(): Promise<void>;
}

/** Starts the service without the plan's faults, behind the plan's connection. */
export async function startChaosService(plan: ChaosPlan): Promise<ChaosService> {
  const { concurrentBrowsers, rtt, seed, faults } = plan.emulator;
  const options = {
    allowLoopback: true,
    concurrentBrowsers,
    rtt,
    seed,
    ...(plan.browser === 'stub' && { browser: plan.browser }),
  };
  const apart = plan.death?.whom === 'service' && plan.source !== 'embedded';
  let current: Pick<EmulatorProcess, 'baseURL' | 'apiKey' | 'stop'> & { pid: number };
  if (apart) {
    current = await startEmulatorProcess(options);
  } else {
    const { emulator, stop } = await startService(options);
    const { baseURL, apiKey } = emulator;
    current = { baseURL, apiKey, stop, pid: process.pid };
  }
  const { baseURL, apiKey, pid } = current;
  const way: SlowWay | null = plan.megabits ? await slowWayTo(baseURL, plan.megabits) : null;
  const client = new ServiceClient({ baseURL, apiKey });
  const askFaults = async (method: 'POST' | 'DELETE') => {
    const response = await fetch(`${baseURL}/__emulator/faults`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: method === 'POST' ? JSON.stringify({ faults }) : undefined,
    });
    if (!response.ok) throw new Error(`faults: ${await response.text()}`);
  };
  let stopping: Promise<void> | null = null;
  const stop = async () => {
    await client.close();
    await way?.close();
    // Left frozen by a test that failed before it resumed it.
    if (apart) send(current.pid, 'SIGCONT');
    await current.stop();
  };
  return {
    client,
    env: { POOLWRIGHT_BASE_URL: way?.baseURL ?? baseURL, POOLWRIGHT_API_KEY: apiKey },
    pid,
    addFaults: async () => {
      if (faults.length > 0) await askFaults('POST');
    },
    clearFaults: () => askFaults('DELETE'),
    goOn: () => void send(current.pid, 'SIGCONT'),
    startAgain: async () => {
      await current.stop();
      current = await startEmulatorProcess({ ...options, port: Number(new URL(baseURL).port), apiKey });
    },
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}

/** Returns the running sessions. */
export async function runningSessions(client: ServiceClient): Promise<{ sessionId: string; note: string }[]> {
  const found: { sessionId: string; note: string }[] = [];
  for (const status of ['active', 'starting'] as const) {
    for await (const { sessionId, note } of client.iterateSessions({ status }))
      found.push({ sessionId, note: note ?? '' });
  }
  return found;
}

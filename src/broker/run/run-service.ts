import { spawn } from 'node:child_process';
import * as v from 'valibot';
import { distFile } from '../../common/dist-file.ts';
import { childEnvironment, endProcess } from '../../common/platform/processes.ts';
import { firstJsonLine } from '../../common/platform/streams.ts';
import { EmulatorError } from '../../errors.ts';
import type { OwnBrowsers } from '../../providers/open-provider.ts';
import type { BrowserProvider } from '../../providers/port.ts';
import type { BrokerConfig } from '../config/config.ts';
import { type Workspace, workspaceOf } from '../ledger/workspace.ts';

/** The service of a run, hosted or started for the run, or the user's own browsers. */
export type RunService =
  | {
      kind: 'hosted';
      baseURL: string;
      apiKey: string;
      /** The emulator that acts as the service and ends with its broker. */
      embedded?: EmbeddedEmulator;
    }
  | OwnBrowsers;

/** Starts the emulator of a run on browsers of this machine. @throws EmulatorError; the promise may stay unhandled */
export function startEmulator(config: BrokerConfig): Promise<RunService> {
  const service = start(config);
  service.catch(() => undefined);
  return service;
}

async function start({ workers, projects }: BrokerConfig): Promise<RunService> {
  // Room for every worker, a handover and the pools, so that the emulator's limits never make the run wait.
  const pools = new Set(projects.flatMap(({ plan }) => (plan.pool === null ? [] : JSON.stringify(plan.pool)))).size;
  const embedded = await startEmbeddedEmulator({
    concurrentBrowsers: Math.max(10, workers * (2 + pools)),
    warmBrowserCap: Math.max(30, workers * pools),
  });
  return { kind: 'hosted', baseURL: embedded.baseURL, apiKey: embedded.apiKey, embedded };
}

export async function closeService(provider: BrowserProvider, service: RunService): Promise<void> {
  await provider.close();
  if (service.kind === 'hosted') await service.embedded?.stop();
}

/**
 * Whose browsers a dead run may leave, for its ledger and for sweeps. Null: none, because the embedded emulator's end
 * with its broker, and those that run already are never ended.
 */
export function sweptWorkspace(service: RunService): Workspace | null {
  if (service.kind === 'browsers') return null;
  if (service.kind === 'provider') return workspaceOf(service);
  return service.embedded ? null : workspaceOf(service);
}

/** The run's emulator: a child of the broker, so that it outlives every browser and ends with the broker. */
interface EmbeddedEmulator {
  baseURL: string;
  apiKey: string;
  /** Which Chromium it runs for which purpose, and why; one line each. */
  chromiums: string[];
  /** Fires when it ends by itself, with an EmulatorError `EMULATOR_ENDED` for workers that wait for a browser. */
  ended: AbortSignal;
  stop(): Promise<void>;
}

const startResponse = v.variant('ok', [
  v.object({ ok: v.literal(true), baseURL: v.string(), apiKey: v.string(), chromiums: v.array(v.string()) }),
  v.object({ ok: v.literal(false), code: v.string(), message: v.string() }),
]);

/** They name the browsers of this machine. */
const CHROMIUM_VARIABLES = ['POOLWRIGHT_CHROMIUM', 'POOLWRIGHT_CHROMIUM_SHELL'];
const START_TIMEOUT_MS = 30_000;
/** The emulator promises to exit within 5 s after its pipe closes; after this time it is killed. */
const STOP_TIMEOUT_MS = 8_000;

/**
 * Starts the emulator with these options (`EmulatorOptions` of `poolwright/emulator`).
 * @throws EmulatorError with the emulator's own code and message
 */
async function startEmbeddedEmulator(options: Record<string, unknown>): Promise<EmbeddedEmulator> {
  const child = spawn(process.execPath, [distFile('emulator-main.js')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    windowsHide: true,
    env: childEnvironment(CHROMIUM_VARIABLES),
  });
  child.stdin.on('error', () => undefined); // it may exit before it has read; its response shows this
  child.stdin.write(`${JSON.stringify(options)}\n`);

  let started: v.InferOutput<typeof startResponse>;
  try {
    started = v.parse(startResponse, await firstJsonLine(child.stdout, START_TIMEOUT_MS));
  } catch (error) {
    await endProcess(child, STOP_TIMEOUT_MS);
    throw new EmulatorError('EMULATOR_START_FAILED', 'The embedded emulator did not start.', { cause: error });
  }
  if (!started.ok) {
    await endProcess(child, STOP_TIMEOUT_MS);
    const code = started.code === 'EMULATOR_NO_CHROMIUM' ? started.code : 'EMULATOR_START_FAILED';
    throw new EmulatorError(code, started.message);
  }
  const { baseURL, apiKey, chromiums } = started;
  const ended = new AbortController();
  const onExit = (code: number | null, signal: string | null) => {
    const message = `The emulator of this run has ended (${signal ?? `code ${code}`}), and its browsers with it.`;
    ended.abort(new EmulatorError('EMULATOR_ENDED', message));
  };
  child.once('exit', onExit);
  const stop = async () => {
    child.off('exit', onExit);
    await endProcess(child, STOP_TIMEOUT_MS);
  };
  return { baseURL, apiKey, chromiums, ended: ended.signal, stop };
}

import { setTimeout as delay } from 'node:timers/promises';
import { type Clock, systemClock } from '../common/clock.ts';
import { BrowserLauncher } from './browser-launcher.ts';
import { describeChromiums } from './chromium/choose-chromium.ts';
import { type Chromiums, findChromiums } from './chromium/find-chromium.ts';
import { ProfileDirectories } from './disk/profile-directories.ts';
import { FaultList, randomErrors, seededRandom } from './faults/fault-list.ts';
import { hostCheck, isWildcard } from './host-check.ts';
import { type EmulatorOptions, type EmulatorSettings, resolveOptions } from './options.ts';
import type { Launcher } from './running-browser.ts';
import { createApp } from './server/app.ts';
import { CdpRelay } from './server/cdp-relay.ts';
import { applyFault } from './server/faults.ts';
import { type ListeningServer, listen } from './server/server.ts';
import { EmulatorState } from './state/emulator-state.ts';

/** Warm browsers that may start at once where a start mostly waits. */
const WAITING_STARTS = 8;

/** A running emulator. */
export interface Emulator {
  /** Base address of its API: `http://127.0.0.1:<port>`, or that of the `host` it listens on. */
  readonly baseURL: string;
  /** Key of its workspace; of the first one, where several were given. */
  readonly apiKey: string;
  /** Port of its API, 1 to 65 535. */
  readonly port: number;
  /** Ends every browser in bounded time, removes the profiles and closes all sockets. May be called twice. */
  stop(): Promise<void>;
  /** The Chromiums that its sessions run on. Null for the browsers of a test. */
  readonly chromiums: Chromiums | null;
  /** Process IDs of the Chromiums alive now; each leads a process group. */
  browserPids(): number[];
}

/** Replacements in tests: the clock of durations, lease timeouts and ready ages, and the browsers. */
export interface Replacements {
  clock?: Clock;
  launcher?: Launcher;
}

/** Starts the service on this machine. */
export async function startWith(
  options: EmulatorOptions,
  { clock = systemClock, launcher: given }: Replacements = {},
): Promise<Emulator> {
  const settings = resolveOptions(options);
  const { log } = settings;
  const { browsers, chromiums } = given ? { browsers: given, chromiums: null } : await chromiumLauncher(settings);
  const launcher = slowed(browsers, settings, seededRandom(settings.seed, 'start-jitter'));
  const state = new EmulatorState(settings, launcher, clock);
  const faults = new FaultList([...settings.faults, ...randomErrors(settings.errorRate)], settings.seed);
  const isKnownHost = hostCheck(settings);
  const relay = new CdpRelay(state, { rtt: settings.rtt, faults, isKnownHost, log });
  const stopSignal = new AbortController();
  const app = createApp(state, log, {
    faults,
    applyFault: (session, fault) => applyFault(session, fault, relay),
    stopping: stopSignal.signal,
  });
  let server: ListeningServer;
  try {
    await state.load();
    server = await listen(app, relay, { ...settings, isKnownHost });
  } catch (error) {
    await state.stop();
    await launcher.stop();
    throw error;
  }
  const { port } = server;
  const address = `${reachable(settings.host)}:${port}`;
  state.listenAt(address);

  let stopping: Promise<void> | undefined;
  const stop = async () => {
    stopSignal.abort();
    await server.close();
    await state.stop();
    await launcher.stop();
  };
  return {
    baseURL: `http://${address}`,
    apiKey: settings.workspaces[0]?.apiKey ?? '',
    port,
    chromiums,
    stop() {
      stopping ??= stop();
      return stopping;
    },
    browserPids: () => launcher.pids(),
  };
}

/** How a client on this machine says the host that the emulator listens on. */
function reachable(host: string): string {
  const name = host.replace(/^\[|\]$/g, '');
  if (isWildcard(name)) return name.includes(':') ? '[::1]' : '127.0.0.1';
  return name.includes(':') ? `[${name}]` : name;
}

async function chromiumLauncher(settings: EmulatorSettings): Promise<{ browsers: Launcher; chromiums: Chromiums }> {
  const { allowLoopback, chromiumArgs: extraArguments, log } = settings;
  const chromiums = await findChromiums(settings.chromium);
  for (const line of describeChromiums(chromiums)) log(`Chromium: ${line}`);
  const profiles = await ProfileDirectories.create();
  return { browsers: new BrowserLauncher({ chromiums, extraArguments, allowLoopback, profiles, log }), chromiums };
}

/**
 * Starts the hosted-browser service on this machine: its whole API on 127.0.0.1 (or on `host`), with a real Chromium
 * behind every session and warm ones in every pool. `stop()` it when done; it keeps the process alive until then.
 *
 * @throws OptionsError naming the option; EmulatorError `EMULATOR_NO_CHROMIUM` or `EMULATOR_PORT_IN_USE`.
 * @example
 * const emulator = await startEmulator({ concurrentBrowsers: 4 });
 * process.env.POOLWRIGHT_BASE_URL = emulator.baseURL;
 * process.env.POOLWRIGHT_API_KEY = emulator.apiKey;
 */
export function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  return startWith(options);
}

/** A launcher that takes its time, as machines far away do. @param random draws how much: numbers in [0, 1) */
function slowed(
  launcher: Launcher,
  { startDelay, startJitter }: Pick<EmulatorSettings, 'startDelay' | 'startJitter'>,
  random: () => number,
): Launcher {
  const isSlow = startDelay > 0;
  return {
    launch: async (spec, signal, files) => {
      const wait = startDelay + random() * startJitter;
      if (wait > 0) await delay(wait, undefined, { signal, ref: false }).catch(() => signal.throwIfAborted());
      return await launcher.launch(spec, signal, files);
    },
    warmStarts: isSlow ? Math.max(launcher.warmStarts, WAITING_STARTS) : launcher.warmStarts,
    // The delay stands for machines far away, which replace at once.
    replaceAfterMs: isSlow ? 0 : launcher.replaceAfterMs,
    pids: () => launcher.pids(),
    stop: () => launcher.stop(),
  };
}

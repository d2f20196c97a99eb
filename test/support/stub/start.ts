import { type Clock, systemClock } from '../../../src/common/clock.ts';
import type { BrowserSpec } from '../../../src/emulator/browser-spec.ts';
import type { EmulatorOptions } from '../../../src/emulator/options.ts';
import type { Launcher, RunningBrowser } from '../../../src/emulator/running-browser.ts';
import { type Emulator, startWith } from '../../../src/emulator/start.ts';
import { EmulatorError } from '../../../src/errors.ts';
import type { Flaw } from './flaws.ts';
import { StubBrowser } from './stub-browser.ts';

/** The emulator's options, and those of tests: in-memory fake browsers, the first of them with these flaws. */
export type TestOptions = EmulatorOptions & { browser?: 'stub'; flaws?: readonly Flaw[] };

/**
 * Starts an emulator for tests that need hundreds of sessions and hardly a page: a session's browser is an object in
 * this process that speaks as much CDP as Playwright needs for a page with a title and script, without DOM, network and
 * pictures.
 */
export function startStubEmulator(
  { browser: _stub, flaws = [], ...options }: TestOptions = {},
  clock: Clock = systemClock,
): Promise<Emulator> {
  return startWith(options, { clock, launcher: new StubLauncher(flaws) });
}

/** Starts in-memory fake browsers at once. For tests that need no real browser. */
class StubLauncher implements Launcher {
  readonly warmStarts = 100;
  readonly replaceAfterMs = 0;
  readonly #alive = new Set<StubBrowser>();
  #isStopped = false;
  /** Of the next browsers. */
  readonly #flaws: Flaw[];

  constructor(flaws: readonly Flaw[]) {
    this.#flaws = [...flaws];
  }

  async launch(spec: BrowserSpec, signal: AbortSignal): Promise<RunningBrowser> {
    signal.throwIfAborted();
    if (this.#isStopped) throw new EmulatorError('EMULATOR_START_FAILED', 'The emulator is being stopped.');
    const browser = new StubBrowser(spec.url, this.#flaws.shift());
    this.#alive.add(browser);
    void browser.exited.then(() => this.#alive.delete(browser));
    return {
      reserve: () => browser.reserve(),
      exited: browser.exited,
      cut: () => browser.bytes,
      stop: async () => browser.end({ code: 0, signal: null }),
      crash: () => browser.end({ code: null, signal: 'SIGKILL' }),
      stall: () => browser.stall(),
      resume: () => browser.resume(),
    };
  }

  /** None: they are part of this process. */
  pids(): number[] {
    return [];
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    for (const browser of this.#alive) browser.end({ code: 0, signal: null });
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import type { BrowserSpec } from '../browser-spec.ts';
import type { BrowserFiles } from '../disk/browser-files.ts';
import type { Launcher, RunningBrowser } from '../running-browser.ts';

export interface StartTimes {
  /** Every start takes this much longer, in ms. */
  startDelay: number;
  /** And up to this much more, in ms. */
  startJitter: number;
  /** Draws how much: numbers in [0, 1). */
  random: () => number;
}

/** A launcher that takes its time, as machines far away do. */
export class SlowLauncher implements Launcher {
  readonly #launcher: Launcher;
  readonly #times: StartTimes;

  constructor(launcher: Launcher, times: StartTimes) {
    this.#launcher = launcher;
    this.#times = times;
  }

  async launch(spec: BrowserSpec, signal: AbortSignal, files?: BrowserFiles): Promise<RunningBrowser> {
    const { random, startDelay, startJitter } = this.#times;
    const wait = startDelay + random() * startJitter;
    if (wait > 0) await delay(wait, undefined, { signal, ref: false }).catch(() => signal.throwIfAborted());
    return this.#launcher.launch(spec, signal, files);
  }

  pids(): number[] {
    return this.#launcher.pids();
  }

  stop(): Promise<void> {
    return this.#launcher.stop();
  }
}

import type { MergedOptions } from '../../../options/lease-plan.ts';
import type { HostedOptions } from '../../../options/schema/schema.ts';
import type { WorkerChoice } from './workers.ts';

/** A project that runs on hosted browsers. */
export interface WrappedProject {
  /** Identifies it within the config: names may be equal. */
  id: string;
  name: string;
  options: MergedOptions;
}

/** Data from the config wrapper for the global setup. Both run in one process, but Playwright passes no custom keys. */
export interface WrappedRun {
  options: HostedOptions;
  hosted: WrappedProject[];
  /**
   * The user's own global setup if there is only one: ours runs it. The path is relative to the config, as written
   * there.
   */
  userGlobalSetup: string | undefined;
  /** The number of workers, if poolwright chose it. */
  workers: WorkerChoice | null;
}

const KEY = Symbol.for('poolwright.run');
const LOCAL = 'local';
const holder = globalThis as { [KEY]?: WrappedRun | typeof LOCAL };

/** Stored on `globalThis`, because config and global setup may be loaded by different module systems. */
export function rememberRun(run: WrappedRun): void {
  holder[KEY] = run;
}

/** The config uses Playwright's own browsers (`service: 'local'`), and so does the `test` of poolwright. */
export function rememberLocalRun(): void {
  holder[KEY] = LOCAL;
}

/** The run that the wrapper stored; null without the wrapper, and with local browsers. */
export function rememberedRun(): WrappedRun | null {
  const run = holder[KEY];
  return run === undefined || run === LOCAL ? null : run;
}

/** Whether the wrapper chose local browsers for this run; null without the wrapper. */
export function isLocalRun(): boolean | null {
  return holder[KEY] === undefined ? null : holder[KEY] === LOCAL;
}

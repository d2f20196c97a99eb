import type { MergedOptions } from '../../options/lease-plan.ts';
import type { HostedOptions } from '../../options/schema/schema.ts';

/** A project that runs on hosted browsers. */
export interface WrappedProject {
  /** Tells it from the config's other ones: their names need not differ. */
  id: string;
  name: string;
  options: MergedOptions;
}

/** What the config wrapper hands to the global setup. Playwright loads both in one process, but shows no key there. */
export interface WrappedRun {
  options: HostedOptions;
  hosted: WrappedProject[];
  /** The user's own global setup where there is a single one: ours runs it. As the config has it: relative to the config. */
  userGlobalSetup: string | undefined;
}

const KEY = Symbol.for('poolwright.run');
const LOCAL = 'local';
const holder = globalThis as { [KEY]?: WrappedRun | typeof LOCAL };

/** Keeps what the config said; on `globalThis`, because config and global setup may load in different module systems. */
export function rememberRun(run: WrappedRun): void {
  holder[KEY] = run;
}

/** The config stays on Playwright's own browsers (`service: 'local'`): so does `test` of poolwright. */
export function rememberLocalRun(): void {
  holder[KEY] = LOCAL;
}

/** What the config of this process said; null without the wrapper, and on local browsers. */
export function rememberedRun(): WrappedRun | null {
  const run = holder[KEY];
  return run === undefined || run === LOCAL ? null : run;
}

/** Whether the config's wrapper has left this run to local browsers; null: there is no wrapper. */
export function isLocalRun(): boolean | null {
  return holder[KEY] === undefined ? null : holder[KEY] === LOCAL;
}

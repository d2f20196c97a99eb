import type { LeasePlan } from '../../options/lease-plan.ts';
import type { HostedOptions } from '../../options/schema.ts';

/** A project that runs on hosted browsers, and what it needs. */
export interface HostedProject {
  name: string;
  plan: LeasePlan;
}

/** What the config wrapper hands to the global setup. Playwright loads both in one process, but shows no key there. */
export interface WrappedRun {
  options: HostedOptions;
  hosted: HostedProject[];
  /** Projects that stay on local browsers. */
  local: string[];
  /** The user's own global setup where there is a single one: ours runs it. As the config has it: relative to the config. */
  userGlobalSetup: string | undefined;
}

const KEY = Symbol.for('poolwright.run');
const holder = globalThis as { [KEY]?: WrappedRun };

/** Keeps what the config said; on `globalThis`, because config and global setup may load in different module systems. */
export function rememberRun(run: WrappedRun): void {
  holder[KEY] = run;
}

/** What the config of this process said; null without the wrapper. */
export function rememberedRun(): WrappedRun | null {
  return holder[KEY] ?? null;
}

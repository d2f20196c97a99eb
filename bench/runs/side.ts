import type { EmulatorProcess } from '../surroundings/emulator.ts';
import type { DistantRelay } from '../surroundings/relay.ts';
import type { ReportedTest } from './report.ts';

/** A way for a suite to get its browsers. */
export interface Side {
  name: string;
  /** In tables. */
  title: string;
  /**
   * Source of a `fixtures.ts` that test files import instead of `@playwright/test`; null: they are left as they are.
   */
  fixtures: string | null;
  /** Source of the config, around the variable `config`. */
  config(surroundings: { exposeNetwork: string | null }): string;
  /** Directory of another build of the package; missing or null: the present one. */
  build?: string | null;
  /** Brings about what a run finds when it starts. Not timed. */
  prepare(surroundings: Surroundings): Promise<Prepared>;
  /** What is wrong with the browser that a test had; null: nothing. */
  wrongBrowser(test: ReportedTest): string | null;
}

/** Browsers, and a relay beside them. */
export interface NearBrowsers {
  emulator: EmulatorProcess;
  relay: DistantRelay;
}

/** Where a run takes place. */
export interface Surroundings {
  emulator: EmulatorProcess;
  /** Where the suite has a distance: browsers without it, and a relay beside them, at that distance. */
  near: NearBrowsers | null;
  workers: number;
  /** Of the user's project. */
  directory: string;
  /** Path of the headless shell. */
  chromium: string;
}

export interface Prepared {
  /** What the run has in its environment. */
  env: Record<string, string>;
  /** Takes it away again. Not timed. */
  remove(): Promise<void>;
}

/** Where nothing is to be prepared. */
export function nothing(env: Record<string, string> = {}): Prepared {
  return { env, remove: async () => undefined };
}

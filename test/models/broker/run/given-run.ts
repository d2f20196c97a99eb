import type { LeasePlan } from '../../../../src/options/schema/plan.ts';

/** A test and the results of its attempts. */
export interface GivenTest {
  /** Whether it requests a browser. */
  opens: boolean;
  /** How many of its first attempts fail. */
  fails: number;
  ms: number;
  /** Whether it is skipped while it runs. */
  skips: boolean;
}

export interface GivenFile {
  mode: 'default' | 'serial' | 'parallel';
  /** 0, or 1: a project that depends on it. */
  project: number;
  repeats: number;
  tests: GivenTest[];
}

export interface GivenRun {
  files: GivenFile[];
  fullyParallel: boolean;
  workers: number;
  retries: number;
  maxFailures: number;
  reuse: LeasePlan['reuse'];
  /** The delays of a short wait, in ms, used one after the other. */
  delays: number[];
}

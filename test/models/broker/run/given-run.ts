import type { LeasePlan } from '../../../../src/options/schema/plan.ts';

/** A test and the results of its attempts. */
export interface GivenTest {
  /** The fixture that it names: `page`, or a user's fixture, which may also open a context. */
  names: 'page' | 'own';
  /** Whether it requests a browser; a test that names `page` always does. */
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
  workers: number;
  retries: number;
  maxFailures: number;
  reuse: LeasePlan['reuse'];
  /** The delays of a short wait, in ms, used one after the other. */
  delays: number[];
}

/** Sources of the files, by mode: the first line with a test names `page`, the second one a user's fixture. */
export const SOURCES: Record<GivenFile['mode'], string> = {
  default:
    "import { test } from '../../../support/unit/broker/simulated/own';\ntest('', async ({ page }) => {});\ntest('', async ({ own }) => {});\n",
  serial:
    "test.describe.configure({ mode: 'serial' });\ntest('', async ({ page }) => {});\ntest('', async ({ own }) => {});\n",
  parallel:
    "test.describe.configure({ mode: 'parallel' });\ntest('', async ({ page }) => {});\ntest('', async ({ own }) => {});\n",
};

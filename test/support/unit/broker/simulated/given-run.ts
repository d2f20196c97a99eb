import type { LeasePlan } from '../../../../../src/options/lease-plan.ts';

/** A test and what becomes of its tries. */
export interface GivenTest {
  /** Whether it names a fixture that opens a context; a fixture of its own may do so as well. */
  names: 'page' | 'own';
  /** Whether it asks for a browser; one that names `page` always does. */
  opens: boolean;
  /** How many of its first tries fail. */
  fails: number;
  ms: number;
  /** It is skipped while it runs. */
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
  /** How long everything takes that takes a moment, in ms, one after the other. */
  delays: number[];
}

/** Sources of the files, by mode: the first line that has a test names `page`, the second a fixture of its own. */
export const SOURCES: Record<GivenFile['mode'], string> = {
  default: "import { test } from './own';\ntest('', async ({ page }) => {});\ntest('', async ({ own }) => {});\n",
  serial:
    "test.describe.configure({ mode: 'serial' });\ntest('', async ({ page }) => {});\ntest('', async ({ own }) => {});\n",
  parallel:
    "test.describe.configure({ mode: 'parallel' });\ntest('', async ({ page }) => {});\ntest('', async ({ own }) => {});\n",
};

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base } from '@playwright/test';

interface Fixtures {
  /** A folder of the test's own; what GitHub Actions sets is not set, nor what Playwright sets for colours. */
  folder: string;
  /** What is written to standard error while something happens; nothing of it is shown. */
  saidWhile(action: () => unknown): Promise<string>;
}

/** Playwright's `test` for what a reporter writes and says. */
export const test = base.extend<Fixtures>({
  folder: async ({}, use) => {
    const folder = await mkdtemp(join(tmpdir(), 'poolwright-reporter-'));
    const { GITHUB_STEP_SUMMARY: _file, GITHUB_ACTIONS: _actions, FORCE_COLOR: _color, ...environment } = process.env;
    const before = process.env;
    process.env = environment;
    await use(folder);
    process.env = before;
    await rm(folder, { recursive: true });
  },
  saidWhile: async ({}, use) => {
    await use(async (action) => {
      const { write } = process.stderr;
      let said = '';
      process.stderr.write = ((text: string) => {
        said += text;
        return true;
      }) as typeof write;
      try {
        await action();
      } finally {
        process.stderr.write = write;
      }
      return said;
    });
  },
});

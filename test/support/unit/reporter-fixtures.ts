import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base } from '@playwright/test';

interface Fixtures {
  /** A temporary directory. Also clears the variables of GitHub Actions and Playwright's variable for colors. */
  directory: string;
  /** Returns what is written to stderr during an action, instead of printing it. */
  stderrOf(action: () => unknown): Promise<string>;
}

/** Playwright's `test` with fixtures for the output of a reporter. */
export const test = base.extend<Fixtures>({
  directory: async ({}, use) => {
    const directory = await mkdtemp(join(tmpdir(), 'poolwright-reporter-'));
    const { GITHUB_STEP_SUMMARY: _file, GITHUB_ACTIONS: _actions, FORCE_COLOR: _color, ...environment } = process.env;
    const before = process.env;
    process.env = environment;
    await use(directory);
    process.env = before;
    await rm(directory, { recursive: true });
  },
  stderrOf: async ({}, use) => {
    await use(async (action) => {
      const { write } = process.stderr;
      let output = '';
      process.stderr.write = ((text: string) => {
        output += text;
        return true;
      }) as typeof write;
      try {
        await action();
      } finally {
        process.stderr.write = write;
      }
      return output;
    });
  },
});

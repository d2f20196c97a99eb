import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base } from '../e2e/fixtures.ts';
import { processesIn } from '../e2e/process-tree.ts';

/** Tests whose watch pages do not show the runs of other tests, which are on the same machine. */
export const test = base.extend<{ ownRuns: { folder: string; env: Record<string, string> } }>({
  /** A temporary directory: runs are announced there. */
  ownRuns: async ({}, use) => {
    const folder = await mkdtemp(join(tmpdir(), 'own-runs-'));
    await use({ folder, env: { TMPDIR: folder } });
    for (const pid of processesIn(folder)) process.kill(pid, 'SIGKILL');
    await rm(folder, { recursive: true });
  },
});

export { expect } from '@playwright/test';

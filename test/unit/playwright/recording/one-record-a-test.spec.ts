import { expect, type TestInfo, test } from '@playwright/test';
import { recordTest } from '../../../../src/playwright/worker-fixtures.ts';
import { workerState } from '../../../../src/playwright/worker-state.ts';

/** Two options of Playwright's context bring each test to `recordTest`, the config's and maybe the file's. */

test('a test begins once, however many fixtures say so, and again after a hook', async () => {
  const begun: number[] = [];
  const state = workerState();
  state.hosted = {
    present: null,
    sink: null,
    beginTest: (timeout: number) => begun.push(timeout),
  } as unknown as typeof state.hosted;
  const info = { timeout: 7, duration: 0, errors: [], project: { use: {} } } as unknown as TestInfo;
  try {
    const around = () => recordTest(null, () => recordTest(null, async () => undefined, info), info);
    await around();
    expect(begun).toEqual([7]);
    await around();
    expect(begun).toEqual([7, 7]);
  } finally {
    state.hosted = null;
  }
});

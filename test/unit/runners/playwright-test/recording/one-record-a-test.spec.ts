import { expect, type TestInfo, test } from '@playwright/test';
import { recordTest } from '../../../../../src/runners/playwright-test/worker-fixtures.ts';
import { workerState } from '../../../../../src/runners/playwright-test/worker-state.ts';
import { aTestInfo } from '../../../../support/unit/recorded-parts.ts';

/**
 * `recordTest` runs twice per test, for two options of Playwright's context: of the config, and possibly of the test
 * file.
 */

test('begins a test once when several fixtures report it, and again after a hook', async () => {
  const begun: number[] = [];
  const failed: boolean[] = [];
  const state = workerState();
  state.hosted = {
    present: null,
    sink: null,
    beginTest: (timeout: number) => begun.push(timeout),
    endTest: (hasFailed: boolean) => failed.push(hasFailed),
  } as unknown as typeof state.hosted;
  const project = { use: {} } as TestInfo['project'];
  const info = aTestInfo({ timeout: 7, duration: 0, status: 'failed', project });
  try {
    const around = () => recordTest(null, () => recordTest(null, async () => undefined, info), info);
    await around();
    expect(begun).toEqual([7]);
    await around();
    expect(begun).toEqual([7, 7]);
    expect(new Set(failed)).toEqual(new Set([true]));
  } finally {
    state.hosted = null;
  }
});

import { expect, test } from '@playwright/test';
import type { TimelineData, TimelineTest } from '../../../../src/report/timeline/data.ts';
import { tallyOf } from '../../../../src/report/timeline/page/look.ts';

const statuses = ['passed', 'failed', 'timedOut', 'skipped', 'interrupted'];

/** A try of a test. */
function aTry(id: string, status: string, retry = 0, isExpected = false): TimelineTest {
  const ok = status === 'passed' || status === 'skipped' || isExpected ? 1 : 0;
  return [0, 0, 1, statuses.indexOf(status), ok, retry, 0, 0, 1, id, id, null, null, null, null, null, null];
}

const tally = (...tests: TimelineTest[]) => tallyOf({ statuses, tests } as unknown as TimelineData);

test('counts each test once, by its last try', () => {
  const flaky = [aTry('a', 'failed'), aTry('a', 'passed', 1)];
  const failed = [aTry('b', 'failed', 1), aTry('b', 'failed')];
  // It used two sessions.
  const passed = [aTry('c', 'passed'), aTry('c', 'passed')];
  const text = tally(...flaky, ...failed, ...passed, aTry('d', 'skipped'), aTry('e', 'failed', 0, true));
  expect(text).toBe('5 tests: 2 passed, 1 flaky, 1 failed, 1 skipped');
  expect(tally(aTry('a', 'timedOut'))).toBe('1 test: 1 timed out');
  expect(tally()).toBe('0 tests');
});

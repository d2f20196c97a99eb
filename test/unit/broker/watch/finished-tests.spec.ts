import { expect, test } from '@playwright/test';
import { FinishedTests } from '../../../../src/broker/watch/finished-tests.ts';
import { listed } from '../../../../src/broker/watch/view.ts';
import { aTest, at } from '../../../support/unit/records.ts';

/** The tests that watchers are told of. */

const ended = (id: string, seconds: number, given: object = {}) => ({
  sessionId: `session of ${id}`,
  test: aTest({ id, endedAt: at(seconds), ...given }),
});

test('gives a watcher only the tests that it does not know', () => {
  const tests = new FinishedTests((text) => text.replace('tea', '***'));
  tests.update([ended('a', 1, { title: 'buys tea' })]);
  expect(tests.after(0)).toMatchObject([{ title: 'buys ***', sessionId: 'session of a' }]);
  const { ended: known } = tests.counts;
  expect(tests.after(known)).toEqual([]);

  // A session that began earlier has a later test.
  tests.update([ended('c', 3), ended('a', 1), ended('b', 2, { ok: false, status: 'failed' })]);
  expect(tests.after(known).map(({ id }) => id)).toEqual(['c 0', 'b 0']);
  expect(tests.counts).toEqual({ ended: 3, passed: 2, failed: 1 });
});

test('counts a test once that used two sessions, and skipped ones as neither passed nor failed', () => {
  const tests = new FinishedTests((text) => text);
  for (let count = 0; count < 2; count += 1) {
    tests.update([ended('a', 1), ended('a', 1), ended('b', 2, { status: 'skipped' })]);
    expect(tests.counts).toEqual({ ended: 2, passed: 1, failed: 0 });
  }
});

test('lists the newest first, and keeps failed ones longest', () => {
  const tests = new FinishedTests((text) => text);
  tests.update(
    Array.from({ length: 1_200 }, (_, n) => ended(`${n}`, n, n < 10 ? { ok: false, status: 'failed' } : {})),
  );
  const all = tests.after(0);
  expect(all).toHaveLength(1_000);
  expect(all[0]?.id).toBe('1199 0');
  expect(all.slice(-10).every(({ ok }) => !ok)).toBe(true);
  expect(listed(all.slice(0, 5).reverse())).toEqual(all.slice(0, 5));
});

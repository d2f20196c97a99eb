import { expect, test } from '@playwright/test';
import { cut, SPARE, TimeLimit } from '../../../src/features/evidence/bounds.ts';

/** Limits of the evidence of a failed test. */

test('ends a step in time when the test has left a fake clock', async () => {
  const { setTimeout } = globalThis;
  try {
    Object.assign(globalThis, { setTimeout: () => 0 });
    const limit = new TimeLimit(50);
    await expect(limit.step(new Promise(() => undefined))).rejects.toThrow('not ready in time');
    expect(await limit.step(Promise.resolve('ready'))).toBe('ready');
    expect(limit.passedMs).toBeGreaterThanOrEqual(49);
  } finally {
    Object.assign(globalThis, { setTimeout });
  }
});

test('drops the end of a cut text, which may be a part of a secret', () => {
  expect(cut('short', false, 10)).toBe('short');
  expect(cut('a longer text', false, 8)).toBe('a longer');
  const given = `${'x'.repeat(SPARE)}hunt`;
  expect(cut(given, true, 2_000)).toBe('xxxx');
});

import { expect, test } from '@playwright/test';
import { SharedBackoff } from '../../../../src/service/http/shared-backoff.ts';

/** Callers that take a turn, in the order they got it. */
function queue(backoff: SharedBackoff) {
  const order: number[] = [];
  const signal = new AbortController().signal;
  const caller = async (n: number) => {
    await backoff.turn(signal);
    order.push(n);
  };
  return { order, caller };
}

test.describe('SharedBackoff', () => {
  test('lets all callers through while the service answers', async () => {
    const backoff = new SharedBackoff();
    const { order, caller } = queue(backoff);
    await Promise.all([0, 1, 2, 3].map(caller));
    expect(order).toEqual([0, 1, 2, 3]);
  });

  test('after a refusal all wait for one moment; then one asks, and each success doubles how many may', async () => {
    const backoff = new SharedBackoff();
    const { order, caller } = queue(backoff);
    await caller(0);
    const refusedAt = Date.now();
    backoff.end({ delayMs: 300 });
    const waiting = [1, 2, 3, 4, 5, 6, 7].map(caller);
    await waiting[0];
    expect(Date.now() - refusedAt).toBeGreaterThanOrEqual(290);
    expect(order).toEqual([0, 1]);
    backoff.end(null); // two at a time
    await Promise.all(waiting.slice(0, 3));
    expect(order).toEqual([0, 1, 2, 3]);
    backoff.end(null); // four at a time
    await Promise.all(waiting.slice(0, 6));
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6]);
    for (let n = 0; n < 5; n += 1) backoff.end(null);
    await waiting[6];
  });

  test('refusals of requests that were under way together count as one', async () => {
    const backoff = new SharedBackoff();
    const { caller } = queue(backoff);
    await Promise.all([0, 1, 2].map(caller));
    for (let n = 0; n < 3; n += 1) backoff.end({ delayMs: 50 });
    expect(backoff.inARow).toBe(1);
    await caller(3);
    backoff.end({ delayMs: 50 });
    expect(backoff.inARow).toBe(2);
    await caller(4);
    backoff.end(null);
    expect(backoff.inARow).toBe(0);
  });

  for (const first of [0, 1]) {
    test(`a moment that passes while it is looked at holds nobody up (${first})`, async () => {
      const backoff = new SharedBackoff();
      const { order, caller } = queue(backoff);
      const { now } = Date;
      let at = now() + first;
      await caller(0);
      backoff.end({ delayMs: 10 });
      // A clock that moves on with every look at it.
      Date.now = () => at++;
      try {
        await caller(1);
      } finally {
        Date.now = now;
      }
      expect(order).toEqual([0, 1]);
    });
  }

  test('a caller that gives up leaves the line, and the next one is not held up', async () => {
    const backoff = new SharedBackoff();
    const { order, caller } = queue(backoff);
    await caller(0);
    backoff.end({ delayMs: 100 });
    const impatient = new AbortController();
    const first = backoff.turn(impatient.signal);
    const second = caller(2);
    impatient.abort(new Error('no more time'));
    await expect(first).rejects.toThrow('no more time');
    await second;
    expect(order).toEqual([0, 2]);
  });
});

import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { expect, test } from '@playwright/test';
import { answerOf } from '../../../../src/worker/link/sign-of-life.ts';
import { watch } from '../../../../src/worker/link/watchdog.ts';

/** What counts as a sign of life, with links that are numbers. */

const never = new Promise<never>(() => undefined);
const still = () => ({ received: 0, sent: 0, queued: 0 });

test('a question that is answered, refused, and followed by silence', async () => {
  expect(await answerOf(Promise.resolve(), still, 500)).toBe('answered');
  expect(await answerOf(Promise.reject(new Error('no')), still, 500)).toBe('refused');
  expect(await answerOf(never, still, 500)).toBe('silent');
});

for (const direction of ['received', 'queued'] as const) {
  test(`a link that moves (${direction}) is not silent, until it stops`, async () => {
    let looks = 0;
    const traffic = () => {
      looks += 1;
      const moved = Math.min(looks, 8) * 100;
      return { ...still(), [direction]: direction === 'received' ? moved : 1_000 - moved };
    };
    expect(await answerOf(never, traffic, 500)).toBe('silent');
    // Seven looks at a link that moves, then two at one that does not.
    expect(looks).toBe(10);
  });
}

test('what is sent meanwhile is no sign of life', async () => {
  let sent = 0;
  const traffic = () => {
    sent += 100;
    return { received: 0, sent, queued: 0 };
  };
  expect(await answerOf(never, traffic, 500)).toBe('silent');
});

test('an answer that came while this process did nothing else is not overlooked', async () => {
  const answer = answerOf(promisify(randomBytes)(16), still, 500);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
  expect(await answer).toBe('answered');
});

test('what was sent before is waited for, until a question behind it was answered', async () => {
  let answers = true;
  let sent = 3_000_000;
  const link = {
    ask: () => (answers ? Promise.resolve() : never),
    traffic: () => ({ received: 0, sent, queued: 0 }),
    isConnected: () => true,
  };
  const dog = watch(link, () => undefined);
  expect(await dog.answers(500)).toBe(true);
  answers = false;
  // 48 s of uplink lie before the first question; were they waited for again, this would take as long.
  sent += 62_500;
  const asked = performance.now();
  expect(await dog.answers(500)).toBe(false);
  expect(performance.now() - asked).toBeGreaterThan(1_400);
  dog.stop();
});

import { expect, test } from '@playwright/test';
import { RequestDeadline } from '../../../../src/broker/acquire/request-deadline.ts';
import { FakeClock } from '../../../support/unit/broker/fake-clock.ts';

function deadlineOf(explain: (signal: AbortSignal) => Promise<string>, waitsOn = () => false) {
  const clock = new FakeClock();
  const request = new RequestDeadline({
    slot: { project: 'us', index: 2 },
    acquireTimeout: 60_000,
    waitsFor: () => 'waiting for the pool to have one ready',
    explain,
    waitsOn,
    onLate: () => undefined,
    clock,
  });
  return { clock, request };
}

test('a slow explanation does not delay the timeout', async () => {
  let asked: AbortSignal | null = null;
  const { clock, request } = deadlineOf(async (signal) => {
    asked = signal;
    return await new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  });
  await clock.advance(59_999);
  expect(request.signal.aborted).toBe(false);
  await clock.advance(1);
  expect(request.signal.reason).toMatchObject({
    code: 'ACQUIRE_TIMEOUT',
    message: expect.stringContaining('No browser within 60 s'),
  });
  expect(String(request.signal.reason)).toContain('slot 2 (us): waiting for the pool to have one ready.');
  expect(asked).toMatchObject({ aborted: true });
});

test('an explanation that arrives in time is in the error', async () => {
  const { clock, request } = deadlineOf(async () => 'pool p has no browser ready');
  await clock.advance(60_000);
  expect(String(request.signal.reason)).toContain('slot 2 (us): pool p has no browser ready.');
});

test('a request that may wait for another worker waits once more, with the latest explanation', async () => {
  let asked = 0;
  let mayWait = true;
  const { clock, request } = deadlineOf(
    async () => `explanation ${++asked}`,
    () => mayWait,
  );
  await clock.advance(60_000);
  expect(request.signal.aborted).toBe(false);
  mayWait = false;
  await clock.advance(59_999);
  expect(request.signal.aborted).toBe(false);
  await clock.advance(1);
  expect(String(request.signal.reason)).toContain('explanation 2');
});

test('a request that gets its browser asks for no explanation and leaves no timer', async () => {
  let asked = 0;
  const { clock, request } = deadlineOf(async () => `${++asked}`);
  await clock.advance(30_000);
  request.stop();
  await clock.advance(60_000);
  expect(request.signal.aborted).toBe(false);
  expect([asked, clock.timers]).toEqual([0, 0]);
});

import { expect, test } from '@playwright/test';
import { RequestClock } from '../../../../src/broker/leasing/request-clock.ts';
import { FakeClock } from '../../../support/unit/broker/fake-clock.ts';

function clockOf(
  explain: (signal: AbortSignal) => Promise<string>,
  ends: AbortSignal[] = [new AbortController().signal],
) {
  const clock = new FakeClock();
  const request = new RequestClock({
    slot: { project: 'us', index: 2 },
    acquireTimeout: 60_000,
    ends,
    waitsFor: () => 'waiting for the pool to have one ready',
    explain,
    late: () => undefined,
    clock,
  });
  return { clock, request };
}

test('the time is over when it is over, however long it takes to find out what to say', async () => {
  let asked: AbortSignal | null = null;
  const { clock, request } = clockOf(async (signal) => {
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

test('many that wait for one end are no leak, and Node says nothing of one', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  const { signal } = new AbortController();
  const requests = Array.from({ length: 50 }, () => clockOf(async () => '', [signal]).request);
  await new Promise(setImmediate);
  process.off('warning', note);
  for (const request of requests) request.stop();
  expect(warnings.map(({ message }) => message)).toEqual([]);
});

test('what was found out in time is what is said', async () => {
  const { clock, request } = clockOf(async () => 'pool p has no browser ready');
  await clock.advance(60_000);
  expect(String(request.signal.reason)).toContain('slot 2 (us): pool p has no browser ready.');
});

test('a request that is answered asks nobody, and leaves no timer', async () => {
  let asked = 0;
  const { clock, request } = clockOf(async () => `${++asked}`);
  await clock.advance(30_000);
  request.stop();
  await clock.advance(60_000);
  expect(request.signal.aborted).toBe(false);
  expect([asked, clock.timers]).toEqual([0, 0]);
});

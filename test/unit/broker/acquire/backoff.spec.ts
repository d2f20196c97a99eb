import { expect, test } from '@playwright/test';
import {
  PRIORITY,
  type Priority,
  RequestScheduler,
} from '../../../../src/broker/acquire/requests/request-scheduler.ts';
import type { Clock } from '../../../../src/common/clock.ts';
import { ServiceError } from '../../../../src/errors.ts';
import { hosted } from '../../../support/unit/broker/broker-parts.ts';
import { FakeClock, settled } from '../../../support/unit/broker/fake-clock.ts';
import { ScriptedService } from '../../../support/unit/broker/scripted-service.ts';

/** The single backoff of all requests for browsers after a `429` or `503`. */

const DELAY_MS = 3_000;

function overloaded(retryAfterMs = DELAY_MS): ServiceError {
  const details = { status: 503, request: 'POST /v1/browser/session', retryable: true, retryAfterMs };
  return new ServiceError('SERVICE_UNAVAILABLE', 'scripted 503', details);
}

/** A request scheduler, and its requests at the service, to which the test responds. */
function lineOf(clock: Clock, fake: FakeClock) {
  const line = new RequestScheduler({
    provider: hosted(new ScriptedService(fake)),
    runId: 'run-1',
    limit: null,
    held: () => 0,
    owns: () => false,
    clock,
    random: () => 0,
  });
  const order: string[] = [];
  const atService = new Map<string, { grant(): void; refuse(error?: Error): void }>();
  const again: number[] = [];
  const ask = (name: string, { priority = PRIORITY.needed as Priority, signal = new AbortController().signal } = {}) =>
    line.ask({
      signal,
      priority: () => priority,
      onWait: () => undefined,
      send: () =>
        new Promise<void>((grant, reject) => {
          order.push(name);
          const over = (settle: () => void) => () => {
            atService.delete(name);
            settle();
          };
          atService.set(name, { grant: over(grant), refuse: (error = overloaded()) => over(() => reject(error))() });
        }),
      next: () => ({ do: 'back-off' }),
      onAgain: (_, delayMs) => again.push(delayMs),
    });
  return { order, atService, again, ask };
}

test('sends all requests at once while the service responds', async () => {
  const clock = new FakeClock();
  const { order, ask } = lineOf(clock, clock);
  for (let n = 0; n < 12; n += 1) void ask(`${n}`);
  await settled();
  expect(order).toHaveLength(12);
});

test('requests refused together wait until the same moment; then one is sent, then two, then four at a time', async () => {
  const clock = new FakeClock();
  const { order, atService, again, ask } = lineOf(clock, clock);
  const names = Array.from({ length: 9 }, (_, n) => `${n}`);
  for (const name of names) void ask(name);
  await settled();
  for (const each of [...atService.values()]) each.refuse();
  order.length = 0;
  await clock.advance(DELAY_MS - 1);
  expect(order).toEqual([]);
  expect(again, 'one refusal, not nine that grow').toEqual(names.map(() => DELAY_MS));
  await clock.advance(1);
  const atOnce: number[] = [];
  while (atService.size > 0) {
    atOnce.push(atService.size);
    for (const each of [...atService.values()]) each.grant();
    await settled();
  }
  expect(atOnce[0]).toBe(1);
  expect(atOnce[1]).toBe(2);
  expect(order, 'those that wait longest first').toEqual(names);
});

test('each consecutive refusal makes the wait longer, and a success resets it', async () => {
  const clock = new FakeClock();
  const { atService, again, ask } = lineOf(clock, clock);
  void ask('a');
  for (let n = 0; n < 3; n += 1) {
    await settled();
    atService.get('a')?.refuse(overloaded(0));
    await clock.advance(60_000);
  }
  atService.get('a')?.grant();
  void ask('b');
  await settled();
  atService.get('b')?.refuse(overloaded(0));
  await settled();
  expect(again).toEqual([2_000, 4_000, 8_000, 2_000]);
});

for (const first of [0, 1]) {
  test(`a wait that ends while the clock is read blocks no request (${first})`, async () => {
    const fake = new FakeClock();
    let moves = 0;
    // A clock that advances with every read.
    const clock: Clock = {
      now: () => fake.now() + (moves === 0 ? 0 : moves++),
      after: (ms, back) => fake.after(ms, back),
    };
    const { order, atService, ask } = lineOf(clock, fake);
    void ask('a');
    await settled();
    moves = 1 + first;
    atService.get('a')?.refuse(overloaded(10));
    await fake.advance(DELAY_MS);
    expect(order).toEqual(['a', 'a']);
  });
}

test('after the backoff, a waiting worker goes before a prefetch', async () => {
  const clock = new FakeClock();
  const { order, atService, ask } = lineOf(clock, clock);
  void ask('refused');
  await settled();
  atService.get('refused')?.refuse();
  await settled();
  void ask('prefetch', { priority: PRIORITY.early });
  void ask('needed');
  await clock.advance(DELAY_MS);
  while (atService.size > 0) {
    for (const each of [...atService.values()]) each.grant();
    await settled();
  }
  expect(order).toEqual(['refused', 'refused', 'needed', 'prefetch']);
});

test('a cancelled request leaves the line and does not block the next one', async () => {
  const clock = new FakeClock();
  const { order, atService, ask } = lineOf(clock, clock);
  const impatient = new AbortController();
  const first = ask('first', { signal: impatient.signal });
  await settled();
  atService.get('first')?.refuse();
  await settled();
  void ask('second');
  impatient.abort(new Error('no more time'));
  await expect(first).rejects.toThrow('no more time');
  await clock.advance(DELAY_MS);
  expect(order).toEqual(['first', 'second']);
});

import { expect, test } from '@playwright/test';
import { Savings } from '../../../../src/cdp/figures.ts';

function at(roundTrip: number) {
  const clock = { now: 0 };
  const savings = new Savings(5, () => clock.now);
  savings.measured(roundTrip + 30);
  savings.measured(roundTrip);
  savings.measured(roundTrip + 10);
  return { clock, savings };
}

test('uses the shortest response time as the latency, and reports a near browser as near', () => {
  const unknown = new Savings();
  expect([unknown.roundTripMs, unknown.isFar]).toEqual([null, false]);
  expect(at(100).savings.roundTripMs).toBe(100);
  expect(at(100).savings.isFar).toBe(true);
  expect(at(5).savings.isFar).toBe(true);
  expect(at(4.9).savings.isFar).toBe(false);
  // Unknown is neither.
  expect([unknown, at(5).savings, at(4.9).savings].map(({ isNear }) => isNear)).toEqual([false, false, true]);
});

test('counts how long a command was pending before the client sent it, up to one round trip', () => {
  const { clock, savings } = at(100);
  clock.now = 40;
  savings.used(0);
  expect(savings.savedMs).toBe(40);
  savings.delivered();
  clock.now = 500;
  savings.used(0);
  expect(savings.savedMs).toBe(140);
  savings.delivered();
  savings.used();
  expect(savings.savedMs).toBe(240);
});

test('counts the wait for concurrent requests once', () => {
  const { clock, savings } = at(100);
  clock.now = 500;
  savings.used(450);
  savings.used(0);
  savings.used(430);
  expect(savings.savedMs).toBe(100);
});

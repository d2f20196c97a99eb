import { expect, test } from '@playwright/test';
import { Savings } from '../../../../src/cdp/ahead/savings.ts';

function at(roundTrip: number) {
  const clock = { now: 0 };
  const savings = new Savings(5, () => clock.now);
  savings.measured(roundTrip + 30);
  savings.measured(roundTrip);
  savings.measured(roundTrip + 10);
  return { clock, savings };
}

test('the distance is the shortest time of all answers, and near is near', () => {
  const unknown = new Savings();
  expect([unknown.roundTripMs, unknown.isFar]).toEqual([null, false]);
  expect(at(100).savings.roundTripMs).toBe(100);
  expect(at(100).savings.isFar).toBe(true);
  expect(at(5).savings.isFar).toBe(true);
  expect(at(4.9).savings.isFar).toBe(false);
});

test('saved is what was under way before the client asked, and no more than a round trip', () => {
  const { clock, savings } = at(100);
  clock.now = 40;
  savings.used(0);
  expect(savings.savedMs).toBe(40);
  savings.told();
  clock.now = 500;
  savings.used(0);
  expect(savings.savedMs).toBe(140);
  savings.told();
  savings.used();
  expect(savings.savedMs).toBe(240);
});

test('what is asked for together is waited for once', () => {
  const { clock, savings } = at(100);
  clock.now = 500;
  savings.used(450);
  savings.used(0);
  savings.used(430);
  expect(savings.savedMs).toBe(100);
});

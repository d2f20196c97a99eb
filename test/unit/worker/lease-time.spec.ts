import { expect, test } from '@playwright/test';
import type { LeasedBrowser } from '../../../src/broker/rpc/protocol.ts';
import { lastsForNext, neededFor, tooShort } from '../../../src/worker/lease-time.ts';

/** When a browser is too old for the test that begins, in seconds: its life, what is left of it, and the test's timeout. */
const CASES = [
  { life: 300, left: 300, timeout: 30, used: 'stays', ahead: 'taken' },
  { life: 300, left: 46, timeout: 30, used: 'stays', ahead: 'taken' },
  // Less than the margin beside the timeout: enough for one that was fetched for this very test.
  { life: 300, left: 40, timeout: 30, used: 'goes', ahead: 'taken' },
  { life: 300, left: 29, timeout: 30, used: 'goes', ahead: 'let go' },
  { life: 300, left: 1, timeout: 30, used: 'goes', ahead: 'let go' },
  { life: 60, left: 57, timeout: 44, used: 'goes', ahead: 'taken' },
  // No browser lasts longer: half new is new enough.
  { life: 60, left: 31, timeout: 90, used: 'stays', ahead: 'taken' },
  { life: 60, left: 29, timeout: 90, used: 'goes', ahead: 'let go' },
  { life: 60, left: 29, timeout: 0, used: 'goes', ahead: 'let go' },
];

for (const { life, left, timeout, used, ahead } of CASES) {
  test(`${left} s left of ${life}, for a test of ${timeout} s: ${used}, and fetched ahead it is ${ahead}`, () => {
    const expiresAt = new Date(Date.now() + left * 1000).toISOString();
    const lease = { lifetimeMs: life * 1000, expiresAt } as LeasedBrowser;
    expect(tooShort(lease, neededFor(timeout * 1000))).toBe(used === 'goes');
    expect(lastsForNext(lease, neededFor(timeout * 1000))).toBe(ahead === 'taken');
  });
}

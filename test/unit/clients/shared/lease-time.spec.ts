import { expect, test } from '@playwright/test';
import type { LeasedBrowser } from '../../../../src/broker/rpc/messages/protocol.ts';
import { endsTooSoon, lastsForTest, requiredLifetime } from '../../../../src/clients/shared/lease-time.ts';

/** When a browser must be replaced before a test: its lifetime, the rest of it, and the test's timeout, in seconds. */
const CASES = [
  { life: 300, left: 300, timeout: 30, used: 'kept', ahead: 'accepted' },
  { life: 300, left: 46, timeout: 30, used: 'kept', ahead: 'accepted' },
  // Less than timeout and margin, but enough for a browser that was prefetched for this test.
  { life: 300, left: 40, timeout: 30, used: 'replaced', ahead: 'accepted' },
  { life: 300, left: 29, timeout: 30, used: 'replaced', ahead: 'released' },
  { life: 300, left: 1, timeout: 30, used: 'replaced', ahead: 'released' },
  { life: 60, left: 57, timeout: 44, used: 'replaced', ahead: 'accepted' },
  // No browser lasts longer, so half of the lifetime is enough.
  { life: 60, left: 31, timeout: 90, used: 'kept', ahead: 'accepted' },
  { life: 60, left: 29, timeout: 90, used: 'replaced', ahead: 'released' },
  { life: 60, left: 29, timeout: 0, used: 'replaced', ahead: 'released' },
];

for (const { life, left, timeout, used, ahead } of CASES) {
  test(`${left} s of ${life} s left, for a test of ${timeout} s: ${used}, and if prefetched ${ahead}`, () => {
    const expiresAt = new Date(Date.now() + left * 1000).toISOString();
    const lease = { lifetimeMs: life * 1000, expiresAt } as LeasedBrowser;
    expect(endsTooSoon(lease, requiredLifetime(timeout * 1000))).toBe(used === 'replaced');
    expect(lastsForTest(lease, requiredLifetime(timeout * 1000))).toBe(ahead === 'accepted');
  });
}

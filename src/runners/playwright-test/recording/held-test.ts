import type { TestInfo } from '@playwright/test';
import type { HeldTest } from '../../../clients/shared/hold/holds.ts';
import type { TestUse } from '../../../clients/shared/test-use.ts';

/** A test of Playwright's as what puts it on hold needs it. */
export function heldTest(testInfo: TestInfo, use: TestUse): HeldTest {
  return {
    title: testInfo.titlePath.slice(1).join(' › '),
    recordHold: (reason) => use.recordHold(reason),
    allow: (ms) => allow(testInfo, ms),
  };
}

/** Gives a test, or its running hook or fixture, more time. The returned function takes back the unused part. */
function allow(testInfo: TestInfo, ms: number): () => void {
  const before = testInfo.timeout;
  const since = performance.now();
  if (before === 0) return () => undefined;
  testInfo.setTimeout(before + ms);
  return () => {
    // A hook or a fixture with a separate timeout, which cannot be read, keeps what it has got.
    if (testInfo.timeout !== before + ms) return;
    testInfo.setTimeout(before + Math.ceil(performance.now() - since));
  };
}

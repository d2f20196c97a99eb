import { monotonicNow } from '../../common/clock.ts';
import type { MochaTest } from './mocha-api.ts';

type Timed = Pick<MochaTest, 'duration' | 'timeout'>;

/**
 * Does work that does not count towards the test's timeout: afterwards, the test has at least as much time as before.
 */
export async function withoutTimeout<T>(test: Timed, work: () => Promise<T>): Promise<T> {
  const resume = pauseTimeout(test);
  try {
    return await work();
  } finally {
    resume();
  }
}

/** From now on, the test has no timeout. The returned function sets it again, with the time that has passed. */
export function pauseTimeout(test: Timed): () => void {
  const timeout = test.timeout();
  // Setting the timeout of a test that is over, in its `afterEach`, would start its timer again.
  if (timeout === 0 || test.duration !== undefined) return () => undefined;
  const start = monotonicNow();
  test.timeout(0);
  return () => void test.timeout(timeout + Math.ceil(monotonicNow() - start));
}

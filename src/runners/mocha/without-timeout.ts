import type { MochaTest } from './mocha-api.ts';

/**
 * Does work that does not count towards the test's timeout: afterwards, the test has at least as much time as before.
 */
export async function withoutTimeout<T>(test: Pick<MochaTest, 'timeout'>, work: () => Promise<T>): Promise<T> {
  const timeout = test.timeout();
  if (timeout === 0) return await work();
  const start = performance.now();
  test.timeout(0);
  try {
    return await work();
  } finally {
    test.timeout(timeout + Math.ceil(performance.now() - start));
  }
}

import type { MochaTest } from './mocha-api.ts';

/** Does work that does not count as the test's: it has as much time left afterwards as it had, or more. */
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

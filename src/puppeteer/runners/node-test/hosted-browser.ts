import { after, afterEach, beforeEach } from 'node:test';
import type { HostedTest } from './hosted-test.ts';
import type { NodeTest } from './test-facts.ts';
import { testProcess } from './test-process.ts';

/**
 * The hosted browser of the test that runs. Where several run at once (`concurrency`), reading from it throws: there it is
 * `of(t)`.
 */
export interface HostedBrowser extends HostedTest {
  /**
   * What one of several tests that run at once has.
   * @param test what Node gives to the test: `test('…', async (t) => …)`
   */
  of(test: NodeTest): HostedTest;
}

/**
 * Gives every test of this file, or of the suite that it is called in, a hosted browser: each test begins with a context
 * and a page of its own, which are closed behind it. To be called where `beforeEach` is.
 *
 * A test whose browser does not come fails with LeaseError or ServiceError; all of them fail with OptionsError when
 * poolwright is not set up for the run.
 */
export function hostedBrowser(): HostedBrowser {
  const tests = testProcess();
  tests.enter();
  beforeEach(async (test) => await tests.begin(test as NodeTest));
  afterEach(async (test) => await tests.end(test as NodeTest));
  after(async () => await tests.leave());
  return {
    of: (test) => tests.of(test),
    get browser() {
      return tests.present.browser;
    },
    get context() {
      return tests.present.context;
    },
    get page() {
      return tests.present.page;
    },
    get session() {
      return tests.present.session;
    },
  };
}

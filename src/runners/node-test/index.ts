/**
 * `poolwright/node-test`. Enable it with `node --require poolwright/node-test --test`. `hostedBrowser()` gives the
 * tests of a file or suite a hosted browser.
 */

import { after, afterEach, beforeEach } from 'node:test';
import type { HostedTest } from './hosted-test.ts';
import { startInRunner } from './runner-process.ts';
import type { NodeTest } from './test-facts.ts';
import { testProcess } from './test-process.ts';

export type { HostedSession } from '../../clients/shared/hosted-session.ts';
export { EmulatorError, LeaseError, OptionsError, PoolwrightError, ServiceError } from '../../errors.ts';
export type { HostedOptions } from '../../options/schema/schema.ts';
export type { HostedTest } from './hosted-test.ts';

/**
 * The hosted browser of the running test. When several tests run concurrently (`concurrency`), its properties throw:
 * use `of(t)` instead.
 */
export interface HostedBrowser extends HostedTest {
  /**
   * The hosted browser of one test, also when tests run concurrently.
   * @param test the test's argument: `test('…', async (t) => …)`
   */
  of(test: NodeTest): HostedTest;
}

/**
 * Gives every test of this file, or of the suite in which it is called, a hosted browser. Each test has its own context
 * and page, which are closed after it. Call it where you would call `beforeEach`.
 *
 * If no browser is available, the test fails with LeaseError or ServiceError. If poolwright is not set up for the run,
 * all tests fail with OptionsError.
 */
export function hostedBrowser(): HostedBrowser {
  const tests = testProcess();
  tests.suiteBegins();
  beforeEach(async (test) => await tests.begin(test as NodeTest));
  afterEach(async (test) => await tests.end(test as NodeTest));
  after(async () => await tests.suiteEnds());
  return {
    of: (test) => tests.of(test),
    get browser() {
      return tests.current.browser;
    },
    get context() {
      return tests.current.context;
    },
    get page() {
      return tests.current.page;
    },
    get session() {
      return tests.current.session;
    },
  };
}

// Loaded first (`--require`), this is our only code that runs in the runner's own process.
startInRunner();

import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import type { HostedSession } from '../../clients/shared/hosted-session.ts';
import { OptionsError } from '../../errors.ts';
import type { MochaContext } from './mocha-api.ts';
import { type MochaProcess, mochaProcess } from './mocha-process.ts';

/**
 * Properties of `this` in tests, in files that use one of them (`this.page`). If no browser was available, reading one
 * throws the reason.
 */
export interface HostedContext {
  /** The worker's browser. Its next tests use it, too. */
  readonly browser: Browser;
  /** The test's own context, or the browser's default context with its profile, depending on the option `context`. */
  readonly context: BrowserContext;
  /** The first page of {@link context}. */
  readonly page: Page;
  /** Its session at the service, and what the test may ask of it. */
  readonly hostedSession: HostedSession;
}

declare global {
  namespace Mocha {
    interface Context extends HostedContext {}
  }
}

/** The properties that tests have on `this`. */
const HOSTED_NAMES = ['browser', 'context', 'page', 'hostedSession'] as const;

/** Mocha runs these in every process that runs tests; with `--parallel` once per file. */
export const mochaHooks: {
  /** Defines `this.page` and the like, and adds the hooks that end a test. */
  beforeAll(): void;
  /** Begins a test and prepares its browser if its file needs one. */
  beforeEach(): Promise<void>;
} = {
  beforeAll(this: MochaContext): void {
    const root = this.test?.parent;
    if (!root) return;
    defineHostedValues(this);
    // Added now, after all files were loaded, so that they run after the user's own hooks, which may still use the
    // page.
    root.afterEach('poolwright: end of the test', async function () {
      this.timeout(0);
      if (this.currentTest) await mochaProcess().end(this.currentTest);
    });
    for (const suite of root.suites) {
      suite.afterAll('poolwright: end of the shared page', async function () {
        this.timeout(0);
        await mochaProcess().closeShared();
      });
    }
    root.afterAll('poolwright: give the browser back', async function () {
      this.timeout(0);
      await mochaProcess().close();
    });
  },

  async beforeEach(this: MochaContext): Promise<void> {
    // Getting a browser has its own time limit, `acquireTimeout`.
    this.timeout(0);
    if (this.currentTest) await mochaProcess().begin(this.currentTest);
  },
};

/** Defines the properties of {@link HOSTED_NAMES} on `this` of all tests. A suite may assign its own values. */
function defineHostedValues(context: MochaContext): void {
  for (const name of HOSTED_NAMES) {
    Object.defineProperty(context, name, {
      configurable: true,
      get: () => hostedValue(mochaProcess(), name),
      set(this: object, value: unknown) {
        Object.defineProperty(this, name, { value, writable: true, enumerable: true, configurable: true });
      },
    });
  }
}

/** @throws PoolwrightError when it is not available: why no browser is available, or what to write instead */
function hostedValue(process: MochaProcess, name: (typeof HOSTED_NAMES)[number]): HostedContext[typeof name] {
  const ready = process.readyValues();
  if (!ready) {
    const instead = name === 'hostedSession' ? 'session' : name;
    throw new OptionsError(
      `this.${name}`,
      `this.${name} is available only in tests, \`beforeEach\` and \`afterEach\` of a file that contains \`this.page\` or the like. Elsewhere, \`import { hosted } from 'poolwright/mocha'\` and call \`await hosted.${instead}()\`.`,
    );
  }
  const { browser, context, session, page } = ready;
  return { browser, context, page, hostedSession: session }[name];
}

import { HOSTED_NAMES, hostedValue } from './hosted-values.ts';
import type { MochaContext } from './mocha-api.ts';
import { mochaProcess } from './mocha-process.ts';

/** Run around every test, in every process that runs tests; with `--parallel` once a file. */
export const mochaHooks: {
  /** Gives tests their `this.page` and its like, and adds what ends a test's context. */
  beforeAll(): void;
  /** Begins a test: has its browser ready where its file asks for one. */
  beforeEach(): Promise<void>;
} = {
  beforeAll(this: MochaContext): void {
    const root = this.test?.parent;
    if (!root) return;
    offer(this);
    // Added now, when all files are loaded: they run behind the users' own hooks, which may still use the page.
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
    // Getting a browser has its own bound, `acquireTimeout`.
    this.timeout(0);
    if (this.currentTest) await mochaProcess().begin(this.currentTest);
  },
};

/** Gives `this` of all tests what {@link HOSTED_NAMES} names. A suite that sets one itself has its own. */
function offer(context: MochaContext): void {
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

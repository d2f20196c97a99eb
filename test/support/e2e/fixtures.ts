import { type Browser, test as base, chromium, expect, type Page } from '@playwright/test';
import { allOnFullChromium, localChromium } from '../local-chromium.ts';
import { send } from '../processes.ts';
import type { TestOptions } from '../stub/start.ts';
import { type Consumer, makeConsumer, type PlaywrightVersion } from './consumer.ts';
import { processesIn } from './process-tree.ts';
import { reportedTests, startPlaywright } from './run-playwright.ts';
import { recordOf } from './runner-records.ts';
import { startService, type TestService } from './service.ts';
import { startSite } from './site.ts';
import { type StartedSuite, type Suite, type SuiteRun, suiteFiles } from './suite-run.ts';

type Browsers = 'by type' | 'full' | 'shell' | 'stub';

interface Fixtures {
  /**
   * An option: the browsers of `service`. By type, full Chromium or the headless shell; always full Chromium; always
   * the shell, where the type does not matter; or stubs, which need no CPU time, where no page matters.
   */
  browsers: Browsers;
  /** An option: more options of `service`. */
  serviceOptions: TestOptions;
  /** Creates a user's project, which is removed after the test. */
  newConsumer(
    version?: PlaywrightVersion,
    type?: 'module' | 'commonjs',
    packages?: readonly string[],
  ): Promise<Consumer>;
  /** The service under test; after the test, all its browsers are gone. */
  service: TestService;
  site: { url: string };
  /** Runs a suite of a new consumer until it ends, with this exit code (default: 0). */
  runSuite(suite: Suite & { code?: number }): Promise<SuiteRun>;
  /** Starts a suite of a new consumer. */
  startSuite(suite: Suite): Promise<StartedSuite>;
  /** A page of a local browser, to inspect reports. */
  page: Page;
}

/** The emulator's options for these browsers. */
export const BROWSERS: Record<Browsers, () => Promise<TestOptions>> = {
  'by type': async () => ({}),
  full: allOnFullChromium,
  shell: async () => ({ chromium: await localChromium() }),
  stub: async () => ({ browser: 'stub' }),
};

export const test = base.extend<Fixtures, { reader: Browser }>({
  newConsumer: async ({}, use) => {
    const made: Consumer[] = [];
    await use(async (version = 'latest', type = 'commonjs', packages = []) => {
      const consumer = await makeConsumer(version, type, packages);
      made.push(consumer);
      return consumer;
    });
    for (const consumer of made) {
      // Left by a test that failed before its run ended.
      for (const pid of processesIn(consumer.directory)) send(pid, 'SIGKILL');
      await consumer.remove();
    }
  },
  browsers: ['by type', { option: true }],
  serviceOptions: [{}, { option: true }],
  service: async ({ browsers, serviceOptions }, use) => {
    const service = await startService({ ...(await BROWSERS[browsers]()), ...serviceOptions });
    await use(service);
    await service.stop();
  },
  site: async ({}, use) => {
    const site = await startSite();
    await use(site);
    await site.close();
  },
  startSuite: async ({ newConsumer, service, site }, use) => {
    await use(async (suite) => {
      const consumer = await newConsumer();
      await consumer.write(suiteFiles(suite));
      const env = { ...service.env, SITE_URL: site.url, ...suite.env };
      return Object.assign(startPlaywright(consumer, [...(suite.args ?? [])], env), { consumer });
    });
  },
  runSuite: async ({ startSuite }, use) => {
    await use(async ({ code = 0, ...suite }) => {
      const { consumer, exit, output } = await startSuite(suite);
      expect((await exit).code, output()).toBe(code);
      return {
        consumer,
        output: output(),
        tests: () => reportedTests(consumer),
        record: () => recordOf(consumer),
      };
    });
  },
  reader: [
    async ({}, use) => {
      const browser = await chromium.launch({ executablePath: await localChromium(), args: ['--no-sandbox'] });
      await use(browser as Browser);
      await browser.close();
    },
    { scope: 'worker' },
  ],
  page: async ({ reader }, use) => {
    const context = await reader.newContext();
    await use(await context.newPage());
    await context.close();
  },
});

export { expect };

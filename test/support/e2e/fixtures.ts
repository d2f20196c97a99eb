import { test as base, type Page } from '@playwright/test';
import { chromium } from 'playwright-core';
import { allOnFullChromium, localChromium } from '../local-chromium.ts';
import { send } from '../processes.ts';
import { type Consumer, makeConsumer, type PlaywrightVersion } from './consumer.ts';
import { processesIn } from './process-tree.ts';
import { startService, type TestService } from './service.ts';
import { startSite } from './site.ts';

interface Fixtures {
  /** An option: whether plain sessions of `service` run on full Chromium, too, where they would have the headless shell. */
  onFullChromium: boolean;
  /** Makes a user's project; removed after the test. */
  newConsumer(
    version?: PlaywrightVersion,
    type?: 'module' | 'commonjs',
    packages?: readonly string[],
  ): Promise<Consumer>;
  /** The service under test; after it, every browser of it is gone. */
  service: TestService;
  site: { url: string };
  /** A page of a browser on this machine, to look at reports with. */
  page: Page;
}

export const test = base.extend<Fixtures>({
  newConsumer: async ({}, use) => {
    const made: Consumer[] = [];
    await use(async (version = 'latest', type = 'commonjs', packages = []) => {
      const consumer = await makeConsumer(version, type, packages);
      made.push(consumer);
      return consumer;
    });
    for (const consumer of made) {
      // Of a test that was red before its run had ended.
      for (const pid of processesIn(consumer.folder)) send(pid, 'SIGKILL');
      await consumer.remove();
    }
  },
  onFullChromium: [false, { option: true }],
  service: async ({ onFullChromium }, use) => {
    const service = await startService(onFullChromium ? await allOnFullChromium() : {});
    await use(service);
    await service.stop();
  },
  site: async ({}, use) => {
    const site = await startSite();
    await use(site);
    await site.close();
  },
  page: async ({}, use) => {
    const browser = await chromium.launch({ executablePath: await localChromium(), args: ['--no-sandbox'] });
    const context = await browser.newContext();
    await use((await context.newPage()) as Page);
    await browser.close();
  },
});

export { expect } from '@playwright/test';

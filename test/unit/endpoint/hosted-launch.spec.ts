import { EventEmitter } from 'node:events';
import { type Browser, type BrowserContext, type BrowserContextOptions, expect, test } from '@playwright/test';
import { BROKER_VARIABLE } from '../../../src/broker/rpc/shared-broker.ts';
import { launchHosted } from '../../../src/endpoint/hosted-launch.ts';
import type { MergedOptions } from '../../../src/options/lease-plan.ts';
import type { Launch, Launched } from '../../../src/runners/playwright-test/launches.ts';
import { requires } from '../../support/requires.ts';

requires('POSIX');

type Options = BrowserContextOptions | undefined;

/** A browser that notes the options of its contexts. */
class FakeBrowser extends EventEmitter {
  readonly options: Options[] = [];

  async newContext(options: Options): Promise<void> {
    this.options.push(options);
  }
}

/** Values that Playwright sets by default, so that no note is written. */
const GIVEN = { locale: 'en-US', colorScheme: 'light', storageState: 'state.json' } as const;
const KEPT = { locale: undefined, colorScheme: null, viewport: null, storageState: 'state.json' };

/** Launches a browser of a project, whose run has a broker at no address. */
async function launch(hosted: MergedOptions, given: Pick<Launch, 'isPersistent' | 'options' | 'start'>): Promise<void> {
  const before = process.env[BROKER_VARIABLE];
  process.env[BROKER_VARIABLE] = JSON.stringify({ address: '/nowhere/broker.sock', token: 't', runner: process.pid });
  try {
    const project = { id: 'p', name: 'p', options: hosted, wrapped: true };
    const started = await launchHosted({ call: 'chromium.launch()', ...given }, project, test.info());
    await started?.launched;
    await started?.end();
  } finally {
    if (before === undefined) delete process.env[BROKER_VARIABLE];
    else process.env[BROKER_VARIABLE] = before;
  }
}

const started = (launched: EventEmitter) => async () => launched as unknown as Launched;

test('a launched stealth browser keeps its identity in its contexts', async () => {
  const browser = new FakeBrowser();
  const stealth: MergedOptions = { session: { type: 'hosted_stealth' } };
  await launch(stealth, { isPersistent: false, options: {}, start: started(browser) });
  await browser.newContext(GIVEN);
  expect(browser.options).toEqual([expect.objectContaining(KEPT)]);
});

test('a persistent context of one keeps it, and so do other contexts of its browser', async () => {
  const browser = new FakeBrowser();
  const context = Object.assign(new EventEmitter(), { browser: () => browser });
  let options: Options;
  const stealth: MergedOptions = { session: { type: 'hosted_stealth' } };
  await launch(stealth, {
    isPersistent: true,
    options: GIVEN as Launch['options'],
    start: async (changed) => {
      options = changed as Options;
      return context as unknown as BrowserContext;
    },
  });
  await browser.newContext(GIVEN);
  expect([options, ...browser.options]).toEqual([expect.objectContaining(KEPT), expect.objectContaining(KEPT)]);
});

// Otherwise the step of each `newContext()` names a line of ours in Playwright's reports.
test('a launched browser that keeps no identity is left as it is', async () => {
  for (const hosted of [{}, { session: { type: 'hosted_stealth' }, identity: 'override' }] satisfies MergedOptions[]) {
    const browser = new FakeBrowser();
    await launch(hosted, { isPersistent: false, options: {}, start: started(browser) });
    expect((browser as unknown as Browser).newContext).toBe(FakeBrowser.prototype.newContext);
  }
});

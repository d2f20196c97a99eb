import { type FarChromium, startFarChromium } from '../../support/cdp/far-chromium.ts';
import { test as base, expect } from '../../support/e2e/fixtures.ts';
import { providerFile } from '../../support/e2e/provider-file.ts';
import { runCommand } from '../../support/e2e/run-command.ts';
import { kits, sharedTag } from '../../support/e2e/runner-kits.ts';
import { outcomes, recordOf } from '../../support/e2e/runner-records.ts';
import { fullLength } from '../../support/property-runs.ts';

/** Each runner, and `leaseBrowser`, on the user's own browsers: one that runs already, and a provider's. */

const test = base.extend<object, { chromium: FarChromium }>({
  chromium: [
    async ({}, use) => {
      const chromium = await startFarChromium(['localhost', '127.0.0.1']);
      await use(chromium);
      await chromium.close();
    },
    { scope: 'worker' },
  ],
});

const WITHOUT_SERVICE = { POOLWRIGHT_BASE_URL: '', POOLWRIGHT_API_KEY: '' };
const PROVIDER = { 'browsers.ts': providerFile() };
const SCRIPT = (entry: string) => `
  import { leaseBrowser } from 'poolwright/${entry}';
  const { browser, session, release } = await leaseBrowser();
  const page = await browser.newPage();
  await page.goto(process.env.SITE_URL);
  console.log('SEEN ' + JSON.stringify({ title: await page.title(), ...session }));
  await release();`;

for (const kit of kits) {
  const files = {
    ...kit.config,
    ...Object.fromEntries([
      kit.file('a', [
        { name: 'goes', body: `await page.goto(process.env.SITE_URL); expect(await page.title()).not.toBe('');` },
      ]),
    ]),
  };

  test(`${kit.runner} on a browser that runs already`, { tag: sharedTag(kit) }, async ({
    newConsumer,
    chromium,
    site,
  }) => {
    const consumer = await newConsumer('latest', 'commonjs', kit.packages);
    await consumer.write(files);
    const host = new URL(chromium.cdpUrl).host;
    const env = { ...WITHOUT_SERVICE, POOLWRIGHT_CDP_URL: `http://${host}`, SITE_URL: site.url };
    const run = await runCommand(consumer, kit.args, env);
    expect(run.code, run.output).toBe(0);
    expect(run.output).toContain(`browsers that run at ${host}`);
    const record = await recordOf(consumer);
    expect(outcomes(record)).toEqual(['goes: passed']);
    expect(record).toMatchObject({
      service: 'browsers',
      sessions: [{ type: null, bandwidthBytes: null, endConfirmed: true }],
    });
  });

  test(`${kit.runner} on a provider`, { tag: sharedTag(kit) }, async ({ newConsumer, service, site }) => {
    const consumer = await newConsumer('latest', 'commonjs', kit.packages);
    await consumer.write({ ...files, ...PROVIDER });
    const run = await runCommand(consumer, kit.args, {
      ...service.env,
      POOLWRIGHT_PROVIDER: 'browsers.ts',
      SITE_URL: site.url,
    });
    expect(run.code, run.output).toBe(0);
    const record = await recordOf(consumer);
    expect(outcomes(record)).toEqual(['goes: passed']);
    expect(record).toMatchObject({ service: 'provider', sessions: [{ type: null, endConfirmed: true }] });
    expect(run.output).not.toContain('s3cret-word');
    expect(await service.running()).toEqual([]);
  });
}

for (const entry of ['puppeteer', 'playwright-library']) {
  test(`leaseBrowser of poolwright/${entry}`, { tag: '@long' }, async ({ newConsumer, chromium, service, site }) => {
    const consumer = await newConsumer();
    await consumer.write({ 'script.mjs': SCRIPT(entry), ...PROVIDER });
    const running = { ...WITHOUT_SERVICE, POOLWRIGHT_CDP_URL: `http://${new URL(chromium.cdpUrl).host}` };
    const provided = { ...service.env, POOLWRIGHT_PROVIDER: 'browsers.ts' };
    // The entry decides how to connect, the place how to get an address: each entry once, and each place once.
    const one = entry === 'puppeteer' ? running : provided;
    for (const place of fullLength([running, provided], [one])) {
      const run = await runCommand(consumer, ['script.mjs'], { ...place, SITE_URL: site.url });
      expect(run.code, run.output).toBe(0);
      const seen = JSON.parse(/SEEN (.*)/.exec(run.output)?.[1] ?? '{}');
      expect(seen).toMatchObject({ title: expect.stringMatching(/./), leaseId: null });
    }
    await expect.poll(() => service.running()).toEqual([]);
  });
}

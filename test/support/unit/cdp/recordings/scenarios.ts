import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';

/** The actions in a browser while one interceptor is recorded. */
type Scenario = (browser: Browser, site: string, directory: string) => Promise<void>;

const UPLOADED = 'what is uploaded\n';

/** Puts the uploaded file into a directory. */
export async function writeUpload(directory: string): Promise<void> {
  const path = join(directory, 'upload.txt');
  await writeFile(path, UPLOADED);
  await utimes(path, 0, 0);
}

/** One scenario per interceptor, by the name of its recording. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'hidden-targets': async (browser, site) => {
    const page = await (await browser.newContext()).newPage();
    await page.goto(site);
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.evaluate(`void open('/next')`)]);
    await popup.waitForLoadState();
    await popup.close();
    await page.context().close();
  },

  'back-forward-cache': async (browser, site) => {
    const page = await browser.newPage();
    for (const path of ['/', '/next', '/kept', '/next']) await page.goto(site + path);
    await page.goBack();
    await page.close();
  },

  uploads: async (browser, site, directory) => {
    const page = await browser.newPage();
    await page.goto(site);
    await writeUpload(directory);
    await page.setInputFiles('input', join(directory, 'upload.txt'));
    if ((await page.evaluate(`document.querySelector('input').files[0].text()`)) !== UPLOADED) throw new Error('lost');
    await page.close();
  },

  downloads: async (browser, site) => {
    const page = await browser.newPage();
    await page.goto(site);
    const [download] = await Promise.all([page.waitForEvent('download'), page.evaluate(`location.href = '/file'`)]);
    await download.path();
    await page.close();
  },

  metering: async (browser, site) => {
    const page = await browser.newPage();
    await page.goto(site);
    const other = await page.context().newCDPSession(page);
    await other.send('Network.enable');
    for (const path of ['/big', '/redirect', '/cached', '/cached']) {
      await page.evaluate(`fetch('${path}').then((answer) => answer.text())`);
    }
    await page.route('**/routed', (route) => route.fulfill({ body: 'x'.repeat(10_000) }));
    await page.evaluate(`fetch('/routed').then((answer) => answer.text())`);
    await page.close();
  },

  network: async (browser, site) => {
    const context = await browser.newContext({ httpCredentials: { username: 'me', password: 'pass' } });
    const page = await context.newPage();
    await page.goto(`${site}/next`);
    await page.route('**/routed', (route) => route.continue({ headers: { 'x-mine': 'yes' } }));
    await page.route('**/made-up', (route) => route.fulfill({ body: 'made up' }));
    for (const path of ['/plain', '/routed', '/made-up', '/secret']) {
      await page.evaluate(`fetch('${path}', { method: 'POST', body: 'x' }).then((answer) => answer.text())`);
    }
    await context.close();
  },

  'persistent-context': async (browser, site) => {
    for (const title of ['first', 'second']) {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(`${site}/next`);
      await page.evaluate(`document.title = '${title}'`);
      await context.close();
    }
  },
};

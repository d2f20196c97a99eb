import puppeteer, { type Browser, type ConnectionTransport, type Page } from 'puppeteer-core';
import { Savings } from '../../../src/cdp/figures.ts';
import { Screencast } from '../../../src/cdp/screencast/screencast.ts';
import { asPuppeteerTransport } from '../../../src/clients/puppeteer/transport.ts';
import { BROWSER_KINDS } from '../../support/cdp/browser-kinds.ts';
import { Album } from '../../support/cdp/pictures.ts';
import { expect, test } from '../../support/cdp/puppeteer.ts';
import { comparable, type SeenMessage } from '../../support/cdp/two-ways.ts';
import { slowIf } from '../../support/property-runs.ts';

/** Puppeteer sends and gets the same over a slow connection with everything sent early, except for timestamps. */

const ROUND_TRIP_MS = 10;
/** The first one teaches. */
const TESTS = 3;
const FORM = `<!doctype html><input id="name"><select id="size"><option>small<option>large</select>
  <button onclick="document.querySelector('p').textContent = 'sent ' + document.querySelector('#name').value">Send</button>
  <p></p><div style="height: 3000px"></div><a href="#">below</a>`;

async function fillIn(page: Page, url: string, number: number): Promise<void> {
  await page.goto(url);
  await page.setContent(FORM);
  await page.type('#name', `test ${number}`);
  await page.select('#size', 'large');
  await page.click('button');
  expect(await page.$eval('p', (result) => result.textContent)).toBe(`sent test ${number}`);
  await page.waitForSelector('a');
  // It has to be scrolled to.
  await page.click('a');
  const handle = await page.$('button');
  await handle?.hover();
  await handle?.click();
  expect(await page.$$eval('option', (options) => options.length)).toBe(2);
  expect(await page.$('#none')).toBe(null);
}

function recorded(inner: ConnectionTransport, seen: SeenMessage[]): ConnectionTransport {
  const recorder: ConnectionTransport = {
    send: (text) => {
      seen.push({ by: 'playwright', ...JSON.parse(text) });
      inner.send(text);
    },
    close: () => inner.close(),
  };
  inner.onmessage = (text) => {
    seen.push({ by: 'browser', ...JSON.parse(text) });
    recorder.onmessage?.(text);
  };
  inner.onclose = () => recorder.onclose?.();
  return recorder;
}

/** Returns the messages without values that differ each time. */
function withoutChances(seen: readonly SeenMessage[]) {
  const { commands, answers, events } = comparable(seen);
  // Node IDs are counted per process, and Chromium reuses processes.
  const plain = (text = '') => text.replaceAll(/"(backendN|n)odeId":\d+/g, '"$1odeId":<id>');
  return {
    commands: commands.map(plain),
    answers: answers.map(plain),
    events: Object.fromEntries(
      Object.entries(events).map(([session, all]) => [session, all.filter((event) => !isByChance(event)).map(plain)]),
    ),
  };
}

/** The browser's own targets come in any order; a new page may have its title before Puppeteer attaches to it. */
function isByChance(event: string): boolean {
  if (event.startsWith('Target.targetCreated ') && event.includes('"type":"browser"')) return true;
  return /^Target\.(?:targetInfoChanged|attachedToTarget) /.test(event) && event.includes('"url":"about:blank"');
}

for (const { name, onFullChromium, filmed } of BROWSER_KINDS) {
  test.describe(name, () => {
    test.use({ onFullChromium });
    test.setTimeout(180_000);

    test('exchanges the same commands, responses and events in a small suite', async ({ start, open, site }) => {
      const { api } = await start({ allowLoopback: true, rtt: ROUND_TRIP_MS });
      const go = async (ahead: boolean, run: (browser: Browser) => Promise<void>) => {
        const savings = new Savings(1);
        const seen: SeenMessage[] = [];
        const { cdpUrl } = (await api.create()).body;
        const album = new Album();
        const screencast = new Screencast();
        if (filmed && ahead) screencast.start(album);
        const transport = await open(cdpUrl, { client: 'puppeteer', ahead, sharesBrowser: true, savings, screencast });
        const browser = await puppeteer.connect({
          transport: recorded(asPuppeteerTransport(transport), seen),
          defaultViewport: null,
        });
        await run(browser);
        expect(album.pictures.length > 0).toBe(filmed && ahead);
        await browser.disconnect();
        return { ...withoutChances(seen), savedMs: savings.savedMs };
      };
      const suite = async (browser: Browser) => {
        for (let number = 0; number < TESTS; number += 1) {
          const context = await browser.createBrowserContext();
          await fillIn(await context.newPage(), site.url, number);
          await context.close();
        }
      };
      const plain = await go(false, suite);
      const ahead = await go(true, suite);
      expect(ahead.commands).toEqual(plain.commands);
      expect(ahead.answers).toEqual(plain.answers);
      expect(ahead.events).toEqual(plain.events);
      expect(plain.savedMs).toBe(0);
      expect(ahead.savedMs).toBeGreaterThan(TESTS * ROUND_TRIP_MS);
    });
  });
}

for (const onFullChromium of [false, true]) {
  test.describe(onFullChromium ? 'full Chromium' : 'headless shell', () => {
    test.use({ onFullChromium });
    test.setTimeout(180_000);
    const brief = slowIf(onFullChromium);

    test('never shows Puppeteer the page that is prepared for the next test', brief, async ({ start, open, site }) => {
      const { api } = await start({ allowLoopback: true, rtt: ROUND_TRIP_MS });
      const { cdpUrl } = (await api.create()).body;
      const savings = new Savings(1);
      const transport = await open(cdpUrl, { client: 'puppeteer', ahead: true, sharesBrowser: true, savings });
      const browser = await puppeteer.connect({ transport: asPuppeteerTransport(transport), defaultViewport: null });
      const all = await puppeteer.connect({ browserWSEndpoint: cdpUrl, defaultViewport: null });
      const seen: string[] = [];
      for (const event of ['targetcreated', 'targetchanged', 'targetdestroyed'] as const) {
        browser.on(event, (target) => seen.push(`${event} ${target.type()} ${target.url()}`));
      }
      for (let number = 0; number < TESTS; number += 1) {
        seen.length = 0;
        const context = await browser.createBrowserContext();
        const page = await context.newPage();
        await page.goto(site.url);
        expect(await page.evaluate('6 * 7')).toBe(42);
        // The browser's first page, and the prepared one. In full Chromium, a prepared context has no page.
        const blank = () => all.targets().filter((target) => target.url() === 'about:blank').length;
        await expect.poll(blank).toBeGreaterThanOrEqual(onFullChromium ? 0 : 2);
        expect(browser.targets().filter((target) => target.type() === 'page')).toEqual([page.target()]);
        expect(browser.browserContexts().length).toBe(2);
        expect(await browser.pages()).toEqual([page]);
        await context.close();
        expect([...new Set(seen.filter((event) => event.includes(' page ')))]).toEqual([
          'targetcreated page about:blank',
          `targetchanged page ${site.url}/`,
          `targetdestroyed page ${site.url}/`,
        ]);
      }
      await all.disconnect();
      await browser.disconnect();
    });
  });
}

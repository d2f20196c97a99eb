import type { Browser, BrowserContext, ElementHandle, Page } from 'puppeteer-core';
import type { Figures } from '../measuring/samples.ts';

const FORM = '<!doctype html><h1>Form</h1><input id="name"><button>Send</button>';
const TEXT = 'text';

const ACTIONS: Record<string, (page: Page, button: ElementHandle) => Promise<unknown>> = {
  $: (page) => page.$('button'),
  'handle.click': (_, button) => button.click(),
  'page.click': (page) => page.click('button'),
  [`type, ${TEXT.length} keys`]: (page) => page.type('#name', TEXT),
  'locator().click': (page) => page.locator('button').click(),
  'locator().fill': (page) => page.locator('#name').fill('other'),
  waitForSelector: (page) => page.waitForSelector('button'),
  $eval: (page) => page.$eval('h1', (heading) => heading.textContent),
  evaluate: (page) => page.evaluate('6 * 7'),
};

/** What each test pays, whatever it does. */
export const FIXED = 'fixed cost of a test';
export const STEPS = ['createBrowserContext', 'newPage', 'goto', 'first $', ...Object.keys(ACTIONS), 'context.close'];

/** One test with each step once, in ms. */
export async function oneTest(browser: Browser, url: string): Promise<Figures> {
  const times: Figures = {};
  const timed = async <T>(step: string, work: () => Promise<T>): Promise<T> => {
    const start = performance.now();
    const result = await work();
    times[step] = performance.now() - start;
    return result;
  };
  const context = await timed<BrowserContext>('createBrowserContext', () => browser.createBrowserContext());
  const page = await timed<Page>('newPage', () => context.newPage());
  await timed('goto', () => page.goto(url));
  await timed('first $', () => page.$('h1'));
  await page.setContent(FORM);
  const button = await page.$('button');
  if (!button) throw new Error('The page has no button.');
  for (const [step, act] of Object.entries(ACTIONS)) await timed(step, () => act(page, button));
  await timed('context.close', () => context.close());
  const { createBrowserContext = 0, newPage = 0, 'context.close': close = 0 } = times;
  return { ...times, [FIXED]: createBrowserContext + newPage + close };
}

/** A small test, as most suites have them: it opens a page, reads it, clicks, and reads again. */
export async function smallTest(browser: Browser, url: string): Promise<void> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  await page.goto(url);
  await page.$eval('h1', (heading) => heading.textContent);
  await page.click('button');
  const greeting = await page.$eval('#out', (out) => out.textContent);
  if (greeting !== 'Hi') throw new Error(`The page shows "${greeting}" after the click.`);
  await context.close();
}

import puppeteer, { type ConsoleMessage } from 'puppeteer-core';
import { asPuppeteerTransport } from '../../../src/clients/puppeteer/transport.ts';
import { PageLog } from '../../../src/features/evidence/page-log.ts';
import { expect, test } from '../../support/cdp/puppeteer.ts';

/** The consoles of pages are recorded for the evidence of failed tests. */

const WRITES = `new Promise((resolve) => {
  for (let n = 0; n < 20; n += 1) console.log('line ' + n, { n }, [n]);
  addEventListener('error', () => setTimeout(resolve));
  setTimeout(() => { throw new Error('not caught'); });
})`;

test('records lines and uncaught errors without a further command', async ({ cdpUrl, open }) => {
  const visit = async (follows: boolean) => {
    const transport = await open(cdpUrl, { client: 'puppeteer' });
    const browser = await puppeteer.connect({ transport: asPuppeteerTransport(transport), defaultViewport: null });
    const log = follows ? new PageLog(browser) : null;
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    await page.evaluate(WRITES);
    const lines = log?.linesOf(page, 0) ?? [];
    await context.close();
    const { commands } = transport;
    expect(log?.pages ?? []).toEqual([]);
    await browser.disconnect();
    return { lines, commands };
  };
  const plain = await visit(false);
  const followed = await visit(true);
  expect(followed.lines).toHaveLength(21);
  expect(followed.lines[0]).toMatchObject({ type: 'log', text: expect.stringContaining('line 0') });
  expect(followed.lines.at(-1)).toMatchObject({ type: 'pageerror', text: expect.stringContaining('not caught') });
  expect(followed.commands).toBe(plain.commands);
});

test("leaves the values of a message to a test's own listener", async ({ cdpUrl, connectPuppeteer }) => {
  const browser = await connectPuppeteer(cdpUrl);
  new PageLog(browser);
  const page = await browser.newPage();
  const message = new Promise<ConsoleMessage>((resolve) => page.once('console', resolve));
  await page.evaluate(`console.log({ deep: [7] })`);
  const [value] = (await message).args();
  expect(await value?.jsonValue()).toEqual({ deep: [7] });
});

test('keeps the last lines of a page, cut, and those after a time', async ({ cdpUrl, connectPuppeteer }) => {
  const browser = await connectPuppeteer(cdpUrl);
  const log = new PageLog(browser);
  const page = await browser.newPage();
  await page.evaluate(`for (let n = 0; n < 300; n += 1) console.log(n + ' ' + 'x'.repeat(10_000))`);
  const lines = log.linesOf(page, 0);
  expect(lines.map(({ text }) => Number.parseInt(text, 10))).toEqual(Array.from({ length: 200 }, (_, n) => n + 100));
  expect(lines.every(({ text }) => text.length === 2_000)).toBe(true);
  expect(log.linesOf(page, Date.now() + 1)).toEqual([]);
});

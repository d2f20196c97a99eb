import { createRequire } from 'node:module';
import { chromium } from '@playwright/test';
import { Api } from '../../support/emulator/api.ts';
import { expect, test } from '../../support/emulator/fixtures.ts';
import { startEmulatorProcess } from '../../support/emulator-process.ts';
import { isRunning } from '../../support/processes.ts';
import type { TestOptions } from '../../support/stub/start.ts';

const require = createRequire(import.meta.url);
const PLAYWRIGHTS = {
  oldest: require('../../e2e/playwright-1.48/node_modules/playwright-core').chromium as typeof chromium,
  latest: chromium,
};
const stub: TestOptions = { browser: 'stub' };
const SESSIONS = 250;

for (const [version, playwright] of Object.entries(PLAYWRIGHTS)) {
  test(`a stub serves the ${version} Playwright`, async ({ start }) => {
    const emulator = await start(stub);
    const { api } = emulator;
    const { sessionId, cdpUrl } = (await api.create({ note: 'n' })).body;
    expect(emulator.browserPids()).toEqual([]);
    const browser = await playwright.connectOverCDP(cdpUrl);
    expect(browser.contexts()).toHaveLength(1);
    const context = await browser.newContext({ viewport: { width: 800, height: 600 }, locale: 'de-DE' });
    const page = await context.newPage();
    expect(page.url()).toBe('about:blank');
    await page.goto('data:text/html,<title>first</title>');
    expect(await page.title()).toBe('first');
    await page.setContent('<title>second</title><p>text');
    expect(await page.title()).toBe('second');
    await page.goto('about:blank');
    expect(await page.title()).toBe('');
    expect(await page.evaluate('1+1')).toBe(2);
    expect(await page.evaluate(async ({ a }) => [a, await Promise.resolve(null)], { a: 'x' })).toEqual(['x', null]);
    await expect(
      page.evaluate(() => {
        throw new Error('boom');
      }),
    ).rejects.toThrow('boom');
    await page.exposeFunction('twice', (value: number) => value * 2);
    expect(await page.evaluate('twice(4)')).toBe(8);
    const said = page.waitForEvent('console');
    await page.evaluate(() => console.log('hi', 3));
    expect((await said).text()).toBe('hi 3');
    const cdp = await context.newCDPSession(page);
    expect(await cdp.send('Runtime.evaluate', { expression: '2 * 3' })).toEqual({
      result: { type: 'number', value: 6 },
    });
    await cdp.detach();
    await expect(page.goto('http://example.com')).rejects.toThrow('net::ERR_INTERNET_DISCONNECTED');
    await page.close();
    expect(context.pages()).toEqual([]);
    await context.newPage();
    await context.close();
    await browser.close();
    expect((await api.session(sessionId)).body).toMatchObject({ status: 'active', bandwidthBytes: null });
    await api.stop(sessionId);
    const { body } = await api.session(sessionId);
    expect(body).toMatchObject({ status: 'completed', note: 'n' });
    expect(body.bandwidthBytes).toBeGreaterThanOrEqual('<title>first</title>'.length);
  });
}

test.describe('a stub', () => {
  test('keeps clients and contexts apart', async ({ start, connect }) => {
    const { api } = await start(stub);
    const { cdpUrl } = (await api.create()).body;
    const [one, two] = [await connect(cdpUrl), await connect(cdpUrl)];
    const context = await one.newContext();
    await (await context.newPage()).evaluate('globalThis.mine = 1');
    expect(await (await context.newPage()).evaluate('typeof mine')).toBe('undefined');
    await one.newContext();
    const kept = await (await two.newContext()).newPage();
    await one.close();
    expect(await kept.evaluate('6 * 7')).toBe(42);
    // Everything that the first client created is removed with it.
    const cdp = await two.newBrowserCDPSession();
    const { targetInfos } = await cdp.send('Target.getTargets');
    expect(targetInfos).toHaveLength(2);
    await expect(cdp.send('Page.printToPDF' as 'Target.getTargets')).rejects.toThrow("'Page.printToPDF' wasn't found");
  });

  test('survives errors in its pages', async ({ start, connect }) => {
    const { api } = await start(stub);
    const page = await (await connect((await api.create()).body.cdpUrl)).newPage();
    const endless = page.evaluate(() => {
      for (;;);
    });
    await expect(endless).rejects.toThrow('timed out');
    await page.evaluate(() => {
      setTimeout(() => {
        throw new Error('late');
      });
    });
    // A later timer runs after that one has thrown.
    expect(await page.evaluate(() => new Promise((resolve) => setTimeout(() => resolve('on'), 5)))).toBe('on');
  });

  test('crashes like a process, and frees its slot', async ({ start, connect }) => {
    const { api } = await start({ ...stub, concurrentBrowsers: 1 });
    const { sessionId, cdpUrl } = (await api.create()).body;
    const page = await (await connect(cdpUrl)).newPage();
    const waiting = page.evaluate(() => new Promise(() => undefined)).catch((error: Error) => error.message);
    const act = (action: string) => api.call('POST', `/__emulator/sessions/${sessionId}/${action}`);
    await act('crash');
    expect(await waiting).toMatch(/closed/);
    expect((await api.session(sessionId)).body).toMatchObject({ status: 'error', cdpUrl: null });
    expect((await api.create()).status).toBe(200);
    expect((await act('crash')).status).toBe(409);
  });

  test('freezes, resumes, and ends while frozen', async ({ start, connect }) => {
    const { api } = await start(stub);
    const { sessionId, cdpUrl } = (await api.create()).body;
    const act = (action: string) => api.call('POST', `/__emulator/sessions/${sessionId}/${action}`);
    const browser = await connect(cdpUrl);
    const page = await browser.newPage();
    await act('stall');
    const answer = page.evaluate('6 * 7');
    await expect(chromium.connectOverCDP(cdpUrl, { timeout: 300 })).rejects.toThrow(/Timeout 300ms/);
    expect(await Promise.race([answer, api.session(sessionId).then(({ body }) => body.status)])).toBe('active');
    await act('resume');
    expect(await answer).toBe(42);
    await act('stall');
    const closed = new Promise((resolve) => browser.once('disconnected', resolve));
    await api.stop(sessionId);
    await closed;
  });

  test('can be disconnected, and closed over CDP', async ({ start, connect }) => {
    const { api } = await start(stub);
    const { sessionId, cdpUrl } = (await api.create()).body;
    const browser = await connect(cdpUrl);
    const cut = new Promise((resolve) => browser.once('disconnected', resolve));
    await api.call('POST', `/__emulator/sessions/${sessionId}/cut`);
    await cut;
    const again = await connect(cdpUrl);
    await (await again.newBrowserCDPSession()).send('Browser.close');
    await expect.poll(async () => (await api.session(sessionId)).body.status).toBe('completed');
  });

  test(`is light: ${SESSIONS} at once, from sessions and pools`, async ({ start, connect }) => {
    const { api } = await start({ ...stub, concurrentBrowsers: SESSIONS, warmBrowserCap: 50 });
    const { id } = (await api.post('/pools', { name: 'p', size: 50 })).body;
    const created = await Promise.all(Array.from({ length: SESSIONS - 50 }, () => api.create()));
    const leased = await Promise.all(
      Array.from({ length: 50 }, () => api.post(`/pools/${id}/acquire`, { waitMs: 30_000 })),
    );
    expect([...created, ...leased].filter(({ status }) => status !== 200)).toEqual([]);
    expect(await api.create()).toEqual({ status: 403, body: { error: 'Session limit reached' } });
    const page = await (await connect(leased[7]?.body.cdpUrl)).newPage();
    expect(await page.evaluate('6 * 7')).toBe(42);
  });

  test('runs in a separate process, for suites in others', async ({ connect }) => {
    const { apiKey, baseURL, pid, stop } = await startEmulatorProcess({ ...stub, apiKey: 'k' });
    expect(apiKey).toBe('k');
    const page = await (await connect((await new Api(baseURL, apiKey).create()).body.cdpUrl)).newPage();
    expect(await page.evaluate('6 * 7')).toBe(42);
    await stop();
    expect(isRunning(pid)).toBe(false);
  });

  test('an unknown kind of browser is refused', async ({ start }) => {
    await expect(start({ browser: 'firefox' } as never)).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
  });
});

import { expect, test } from './support/fixtures.ts';
import { handshake } from './support/handshake.ts';

test.describe('the CDP address', () => {
  test('is refused with a wrong token and after the end', async ({ start }) => {
    const { api } = await start();
    const { sessionId, cdpUrl } = (await api.create()).body;
    expect(await handshake(cdpUrl)).toMatchObject({ status: 101 });
    expect(await handshake(`${cdpUrl}x`)).toEqual({ status: 404, text: 'There is no browser at this address' });
    expect((await handshake(cdpUrl.replace(/cdp\/.*/, 'devtools/browser/x'))).status).toBe(404);
    await api.stop(sessionId);
    expect(await handshake(cdpUrl)).toEqual({ status: 410, text: 'The session has ended' });
  });

  test('serves no HTTP', async ({ start }) => {
    const { api, baseURL } = await start();
    const { cdpUrl } = (await api.create()).body;
    for (const path of ['/json/version', '/json', new URL(cdpUrl).pathname]) {
      expect((await fetch(baseURL + path)).status).toBe(404);
    }
  });

  test('takes several clients; one that leaves disturbs nobody', async ({ start, connect }) => {
    const { api } = await start();
    const { sessionId, cdpUrl } = (await api.create()).body;
    const first = await connect(cdpUrl);
    const second = await connect(cdpUrl);
    await first.newPage();
    await first.close();
    const page = await second.newPage();
    expect(await page.evaluate('6 * 7')).toBe(42);
    expect((await api.session(sessionId)).body.status).toBe('active');
  });

  test('carries large messages whole, in both directions', async ({ start, connect }) => {
    const { api } = await start();
    const page = await (await connect((await api.create()).body.cdpUrl)).newPage();
    const text = 'äx'.repeat(2_000_000);
    expect(await page.evaluate((value) => value, text)).toBe(text);
  });

  test('is gone when a client closes the browser over CDP', async ({ start, connect }) => {
    const { api } = await start();
    const { sessionId, cdpUrl } = (await api.create()).body;
    const browser = await connect(cdpUrl);
    const closed = new Promise((resolve) => browser.once('disconnected', resolve));
    await (await browser.newBrowserCDPSession()).send('Browser.close');
    await closed;
    await expect.poll(async () => (await api.session(sessionId)).body.status).toBe('completed');
  });
});

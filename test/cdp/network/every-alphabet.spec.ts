import type { BrowserContext } from '@playwright/test';
import type { DevServer } from '../../support/cdp/dev-server.ts';
import { expect, LISTED, test } from '../../support/cdp/proxy-fixtures.ts';

/**
 * What a server and a page receive, in a browser that reaches the server itself, and in the same browser through the
 * proxy.
 */
async function bothWays<Seen>(
  far: BrowserContext,
  { port }: DevServer,
  visit: (origin: string) => Promise<Seen>,
): Promise<{ direct: Seen; proxied: Seen }> {
  const direct = await visit(`http://localhost:${port}`);
  await far.clearCookies();
  const proxied = await visit(`http://${LISTED}:${port}`);
  return { direct, proxied };
}

/** Headers that the test has chosen, one character per byte. */
const chosen = ({ headers }: { headers: Record<string, unknown> }) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => /^(cookie|x-.*)$/.test(name)));

const utf8 = (text: string) => Buffer.from(text).toString('latin1');

test('sends cookies of every alphabet to the server, with requests and WebSockets', async ({ far, dev }) => {
  const page = await far.newPage();
  const { direct, proxied } = await bothWays(far, dev, async (origin) => {
    await page.goto(origin);
    await page.evaluate(`document.cookie = 'n=测试', document.cookie = 'é=ü', document.cookie = 'plain=1'`);
    await page.evaluate(() => fetch('/echo'));
    const hello = await page.evaluate(`new Promise((resolve, reject) => {
      const socket = new WebSocket(location.origin.replace('http', 'ws'));
      socket.onmessage = ({ data }) => { resolve(data); socket.close(); };
      socket.onclose = reject;
    })`);
    // The browser does not report which of two cookies is older.
    const cookies = (seen: { headers: Record<string, unknown> }) => String(seen.headers.cookie).split('; ').sort();
    return { request: cookies(dev.seen('/echo') ?? { headers: {} }), socket: cookies(JSON.parse(String(hello))) };
  });
  expect(direct.request).toEqual([utf8('n=测试'), 'plain=1', utf8('é=ü')]);
  expect(proxied).toEqual(direct);
});

test('sends headers of any bytes, from scripts, workers, documents and routes', async ({ far, dev }) => {
  const page = await far.newPage();
  const { direct, proxied } = await bothWays(far, dev, async (origin) => {
    const seen: unknown[] = [];
    const note = () => seen.push(chosen(dev.seen('/echo') ?? { headers: {} }));
    await page.goto(origin);
    await page.evaluate(() => fetch('/echo', { headers: { 'x-a': 'é ÿ \x80 end', 'x-b': 'Ã©', 'x-c': 'plain' } }));
    note();
    await page.evaluate(`new Promise((resolve) => {
      const source = "fetch('${origin}/echo', { headers: { 'x-a': 'ü é' } }).then(() => postMessage('done'))";
      new Worker(URL.createObjectURL(new Blob([source]))).onmessage = resolve;
    })`);
    note();
    await page.setExtraHTTPHeaders({ 'x-extra': 'é' });
    await page.evaluate(() => fetch('/echo'));
    note();
    await page.goto(`${origin}/echo`);
    note();
    await page.setExtraHTTPHeaders({});
    await page.route('**/echo', (route) =>
      route.continue({ headers: { ...route.request().headers(), 'x-r': '测 é' } }),
    );
    await page.evaluate(() => fetch('/echo', { headers: { 'x-a': 'é' } }));
    note();
    await page.unrouteAll();
    return seen;
  });
  expect(direct[0]).toEqual({ 'x-a': 'é ÿ \x80 end', 'x-b': 'Ã©', 'x-c': 'plain' });
  expect(proxied).toEqual(direct);
});

test('returns response headers with any bytes, several of one name, and cookies', async ({ far, dev }) => {
  const page = await far.newPage();
  const headers: [string, Buffer][] = [
    ['X-Utf', Buffer.from('é 测')],
    ['X-Latin', Buffer.from([0xe9, 0x20, 0xff])],
    ['X-Two', Buffer.from('a')],
    ['X-Two', Buffer.from('b, c')],
    ['Set-Cookie', Buffer.from('u=é测; Path=/')],
    ['Set-Cookie', Buffer.from('second=2; HttpOnly')],
    ['Link', Buffer.from('<http://elsewhere.example/ü>; rel=next')],
  ];
  const query = new URLSearchParams(headers.map(([name, value]): [string, string] => [name, value.toString('base64')]));
  const { direct, proxied } = await bothWays(far, dev, async (origin) => {
    await page.goto(origin);
    const [response, inPage] = await Promise.all([
      page.waitForResponse('**/headers?*'),
      page.evaluate(async (url) => {
        const names = ['x-utf', 'x-latin', 'x-two', 'link'];
        const answer = await fetch(url);
        return names.map((name) => answer.headers.get(name));
      }, `/headers?${query}`),
    ]);
    const cookies = (await far.cookies()).map(({ name, value, httpOnly }) => ({ name, value, httpOnly }));
    const told = (await response.headersArray()).filter(({ name }) => /^(x-|set-cookie|link)/i.test(name));
    // The browser sorts them; the proxy keeps the server's order.
    return { inPage, cookies, told: told.sort((one, other) => one.name.localeCompare(other.name)) };
  });
  expect(direct.inPage[0]).toBe(utf8('é 测'));
  expect(direct.cookies).toContainEqual({ name: 'u', value: 'é测', httpOnly: false });
  expect(proxied).toEqual(direct);
});

import { isLoopbackAddress, isLoopbackHost } from '../../../src/common/url/loopback.ts';
import { expect, test } from '../../support/emulator/fixtures.ts';
import { PAGE_BYTES, PART_BYTES } from '../../support/emulator/site.ts';
import { SOCKS_PASSWORD, SocksServer } from '../../support/emulator/socks-server.ts';

/** More than the headers of one request and its response. */
const HEADERS = 3_000;

test.describe('bandwidth', () => {
  test("counts only the session's bytes, and is final when the stop returns", async ({ start, connect, site }) => {
    const { api } = await start({ allowLoopback: true });
    const [busy, idle] = (await Promise.all([api.create(), api.create()])).map(({ body }) => body);
    const page = await (await connect(busy.cdpUrl)).newPage();
    await page.goto(`${site.url}/big`);
    await Promise.all([api.stop(busy.sessionId), api.stop(idle.sessionId)]);
    const moved = (await api.session(busy.sessionId)).body.bandwidthBytes;
    expect(moved).toBeGreaterThan(PAGE_BYTES);
    expect(moved).toBeLessThan(PAGE_BYTES + HEADERS);
    expect((await api.session(idle.sessionId)).body.bandwidthBytes).toBe(0);
    const { sessions } = (await api.get('/sessions')).body;
    expect(sessions.map(({ bandwidthBytes }: { bandwidthBytes: number }) => bandwidthBytes)).toContain(moved);
  });

  test('includes transfers that are running at the stop', async ({ start, connect, site }) => {
    const { api } = await start({ allowLoopback: true });
    const { sessionId, cdpUrl } = (await api.create()).body;
    const page = await (await connect(cdpUrl)).newPage();
    await page.goto(`${site.url}/stream`, { waitUntil: 'commit' });
    await expect
      .poll(() => page.evaluate<number>('document.body?.innerText.length ?? 0'))
      .toBeGreaterThan(PART_BYTES - 200);
    await api.stop(sessionId);
    const moved = (await api.session(sessionId)).body.bandwidthBytes;
    expect(moved).toBeGreaterThan(PART_BYTES);
    expect(moved).toBeLessThan(PART_BYTES + HEADERS);
  });
});

test.describe("this machine's loopback", () => {
  test('is out of reach by default, by every name, and costs nothing', async ({ start, connect, site }) => {
    const lines: string[] = [];
    const { api } = await start({ onLog: (line) => lines.push(line) });
    const { sessionId, cdpUrl } = (await api.create()).body;
    const page = await (await connect(cdpUrl)).newPage();
    const { port } = new URL(site.url);
    for (const host of ['127.0.0.1', 'localhost', 'app.localhost', '127.9.9.9', '0.0.0.0', '[::1]', '2130706433']) {
      await expect(page.goto(`http://${host}:${port}/`), host).rejects.toThrow(/ERR_SOCKS_CONNECTION_FAILED/);
    }
    await expect(page.goto(`https://localhost:${port}/`)).rejects.toThrow(/ERR_SOCKS_CONNECTION_FAILED/);
    expect(lines.join('\n')).toContain("localhost refused: a hosted browser cannot reach this machine's loopback");
    await api.stop(sessionId);
    expect((await api.session(sessionId)).body.bandwidthBytes).toBe(0);
  });

  test('is recognised in all its spellings', () => {
    for (const host of [
      'LOCALHOST',
      'localhost.',
      'a.b.localhost',
      '127.0.0.1',
      '[::1]',
      '::ffff:127.0.0.1',
      '0.0.0.0',
      '::',
    ]) {
      expect(isLoopbackHost(host), host).toBe(true);
    }
    for (const host of ['localhost.example', '128.0.0.1', '10.0.0.1', '[fe80::1]', 'example.test']) {
      expect(isLoopbackHost(host), host).toBe(false);
    }
    expect(isLoopbackAddress('not an address')).toBe(false);
  });
});

const PROXIED = 'a SOCKS proxy carries everything, is metered, and its password is shown nowhere';
test(PROXIED, { tag: '@loads:socks-library' }, async ({ start, connect, site }) => {
  const socks = await SocksServer.start();
  try {
    const lines: string[] = [];
    const { api } = await start({ onLog: (line) => lines.push(line) });
    const { port } = new URL(site.url);
    const { sessionId, cdpUrl } = (await api.create({ proxyUrl: socks.url })).body;
    const page = await (await connect(cdpUrl)).newPage();
    await page.goto(`http://site.test:${port}/big`);
    expect(await page.title()).toBe('site');
    // The upstream proxy resolved the name, not this machine.
    expect(socks.targets).toEqual([`site.test:${port}`]);
    await api.stop(sessionId);
    expect((await api.session(sessionId)).body.bandwidthBytes).toBeGreaterThan(PAGE_BYTES);

    const pool = (await api.post('/pools', { name: 'p', size: 1, browser: { proxyUrl: socks.url } })).body;
    expect(pool.browser.proxyUrl).toBe(socks.url.replace(/\/\/.*@/, '//***@'));
    expect(lines.join('\n')).not.toContain(SOCKS_PASSWORD);
  } finally {
    await socks.close();
  }
});

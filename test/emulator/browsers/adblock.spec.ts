import { isAdHost } from '../../../src/emulator/egress/egress-policy.ts';
import { expect, test } from '../../support/emulator/fixtures.ts';
import { SocksServer } from '../../support/emulator/socks-server.ts';

for (const adblock of [true, false]) {
  test(`${adblock ? 'blocks' : 'does not block'} hosts of advertisements with adblock: ${adblock}`, async ({
    start,
    connect,
    site,
  }) => {
    // There, every name resolves to the test's site.
    const socks = await SocksServer.start();
    try {
      const { api } = await start();
      const { port } = new URL(site.url);
      const { cdpUrl } = (await api.create({ adblock, proxyUrl: socks.url, timezone: 'America/New_York' })).body;
      const page = await (await connect(cdpUrl)).newPage();
      await page.goto(`http://news.test:${port}/`);
      const reached = (host: string) =>
        page.evaluate(`fetch('http://${host}:${port}/', { mode: 'no-cors' }).then(() => true, () => false)`);
      expect(await reached('ads.doubleclick.net')).toBe(!adblock);
      expect(await reached('sync.mathtag.com')).toBe(!adblock);
      expect(await reached('cdn.news.test')).toBe(true);
      expect(socks.targets.includes(`ads.doubleclick.net:${port}`)).toBe(!adblock);
    } finally {
      await socks.close();
    }
  });
}

test('blocks only these hosts and their subdomains', () => {
  for (const host of ['doubleclick.net', 'a.b.doubleclick.net', 'DoubleClick.NET.', 'analytics.google.com']) {
    expect(isAdHost(host), host).toBe(true);
  }
  for (const host of ['notdoubleclick.net', 'doubleclick.net.test', 'google.com', 'net', '', '127.0.0.1']) {
    expect(isAdHost(host), host).toBe(false);
  }
});

test('options without effect in the emulator are accepted, and logged once', async ({ start }) => {
  const lines: string[] = [];
  const { api } = await start({ browser: 'stub', onLog: (line) => lines.push(line) });
  for (let times = 0; times < 2; times += 1) expect((await api.create({ captchaSolver: true })).status).toBe(200);
  const browser = { gpu: 'any', ttsLanguage: 'de-DE', captchaSolver: false };
  expect((await api.post('/pools', { name: 'p', size: 1, browser })).status).toBe(201);
  expect(lines.filter((line) => line.includes('no effect'))).toEqual([
    'captchaSolver has no effect on this emulator',
    'ttsLanguage has no effect on this emulator',
    'gpu has no effect on this emulator',
  ]);
});

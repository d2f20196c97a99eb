import { ServiceClient } from '../../../src/service/index.ts';
import { expect, test } from '../../support/emulator/fixtures.ts';
import { SOCKS_PASSWORD, SocksServer } from '../../support/emulator/socks-server.ts';

const NOWHERE = 'socks5://user:pass-nowhere@127.0.0.1:9';
const dedicatedIps = [
  { ip: '192.0.2.1', country: 'de', proxyUrl: NOWHERE },
  { ip: '192.0.2.2', country: 'CA', timezone: 'America/Vancouver', proxyUrl: NOWHERE },
  { ip: '192.0.2.3', country: 'FR', proxyUrl: NOWHERE, healthy: false },
  { ip: '2001:db8::5', country: 'FR', proxyUrl: NOWHERE, healthy: false },
];

test('a session uses its dedicated IP, with its country and timezone', async ({ start, connect, site }) => {
  const socks = await SocksServer.start();
  try {
    const lines: string[] = [];
    const ip = { ip: '192.0.2.9', country: 'CA', timezone: 'America/Vancouver', proxyUrl: socks.url };
    const emulator = await start({ dedicatedIps: [ip], onLog: (line) => lines.push(line) });
    const client = new ServiceClient({ baseURL: emulator.baseURL, apiKey: emulator.apiKey });
    const { cdpUrl } = await client.createSession({ proxyUrl: 'dedicated://any~country-ca' });
    const page = await (await connect(cdpUrl as string)).newPage();
    const { port } = new URL(site.url);
    await page.goto(`http://site.test:${port}/`);
    expect(socks.targets).toEqual([`site.test:${port}`]);
    expect(await page.evaluate('Intl.DateTimeFormat().resolvedOptions().timeZone')).toBe('America/Vancouver');
    expect(await client.listDedicatedIps()).toEqual([
      { ip: '192.0.2.9', country: 'CA', timezone: 'America/Vancouver', healthy: true },
    ]);
    expect(lines.join('\n')).not.toContain(SOCKS_PASSWORD);
    await client.close();
  } finally {
    await socks.close();
  }
});

test.describe('a dedicated reference', () => {
  const cases: [string, object, number, object][] = [
    ['dedicated://', {}, 400, { code: 'invalid_spec' }],
    ['dedicated://some', {}, 400, { code: 'invalid_spec' }],
    ['dedicated://any~country-DEU', {}, 400, { code: 'invalid_spec' }],
    ['dedicated://any~city-Berlin', {}, 400, { code: 'invalid_spec' }],
    ['dedicated://192.0.2.1:1080', {}, 400, { code: 'invalid_spec' }],
    ['dedicated://192.0.2.300', {}, 400, { code: 'invalid_spec' }],
    ['dedicated://192.0.2.77', {}, 403, { code: 'dedicated_ip_not_owned' }],
    ['dedicated://any~country-JP', {}, 404, { code: 'no_dedicated_ip' }],
    ['dedicated://192.0.2.3', {}, 503, { code: 'dedicated_ip_unhealthy' }],
    ['dedicated://[2001:DB8::5]', {}, 503, { code: 'dedicated_ip_unhealthy' }],
    ['dedicated://any~country-FR', {}, 503, { code: 'dedicated_ip_unhealthy' }],
    ['dedicated://192.0.2.1', { country: 'FR' }, 400, { error: /^country: FR does not match/ }],
    ['dedicated://192.0.2.1', { timezone: 'Europe/Paris' }, 400, { error: /^timezone: / }],
    ['dedicated://192.0.2.1', { country: 'DE', timezone: 'Europe/Berlin' }, 200, {}],
    ['dedicated://any', {}, 200, {}],
    ['DEDICATED://ANY~COUNTRY-ca', {}, 200, {}],
  ];
  for (const [proxyUrl, more, status, body] of cases) {
    test(`${proxyUrl} ${JSON.stringify(more)} responds with ${status}`, async ({ start }) => {
      const { api } = await start({ browser: 'stub', dedicatedIps });
      const expected = Object.entries(body).map(([key, value]) => [
        key,
        value instanceof RegExp ? expect.stringMatching(value) : value,
      ]);
      const answer = await api.create({ proxyUrl, ...more });
      expect(answer).toMatchObject({ status, body: Object.fromEntries(expected) });
      expect(JSON.stringify(answer)).not.toContain('pass-nowhere');
    });
  }

  test('whose address is unhealthy responds with 503 and Retry-After', async ({ start }) => {
    const { baseURL, apiKey } = await start({ browser: 'stub', dedicatedIps });
    const response = await fetch(`${baseURL}/v1/browser/session`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ proxyUrl: 'dedicated://192.0.2.3' }),
    });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
  });

  test("to another workspace's address is refused; a pool accepts its own", async ({ start }) => {
    const { api, baseURL } = await start({
      browser: 'stub',
      workspaces: [{ apiKey: 'key-a', dedicatedIps }, { apiKey: 'key-b' }],
    });
    const other = new ServiceClient({ baseURL, apiKey: 'key-b' });
    expect(await other.listDedicatedIps()).toEqual([]);
    await expect(other.createSession({ proxyUrl: 'dedicated://192.0.2.1' })).rejects.toMatchObject({
      status: 403,
      serviceCode: 'dedicated_ip_not_owned',
    });
    await expect(other.createSession({ proxyUrl: 'dedicated://any' })).rejects.toMatchObject({
      status: 404,
      serviceCode: 'no_dedicated_ip',
    });
    await other.close();
    const browser = { proxyUrl: 'dedicated://192.0.2.2' };
    const { body: pool } = await api.post('/pools', { name: 'p', size: 1, browser });
    expect(pool.browser).toEqual({ ...browser, country: 'CA', timezone: 'America/Vancouver', language: 'en-CA' });
    const bad = await api.patch(`/pools/${pool.id}`, { browser: { proxyUrl: 'dedicated://192.0.2.77' } });
    expect(bad).toMatchObject({ status: 403, body: { code: 'dedicated_ip_not_owned' } });
  });
});

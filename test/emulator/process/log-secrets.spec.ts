import { randomBytes } from 'node:crypto';
import { Api } from '../../support/emulator/api.ts';
import { expect, test } from '../../support/emulator/fixtures.ts';
import { SocksServer } from '../../support/emulator/socks-server.ts';

const random = () => randomBytes(9).toString('base64url');

test('the log never contains a key, a proxy password or a CDP token', async ({ start, connect, fakeChromium }) => {
  const lines: string[] = [];
  const apiKey = `k.+$(${random()})/=&`; // characters with a meaning in regular expressions and URLs
  const password = `p@s/${random()}+$`;
  const onLog = (line: string) => lines.push(line);
  const socks = await SocksServer.start();
  const proxyUrl = `socks5h://user:${encodeURIComponent(password)}@${new URL(socks.url).host}`;
  const tokens: string[] = [];
  const { api } = await start({ apiKey, onLog, dedicatedIps: [{ ip: '192.0.2.7', country: 'DE', proxyUrl }] });
  const inPath = encodeURIComponent(apiKey);
  const create = async (body: unknown) => {
    const { sessionId, cdpUrl } = (await api.create(body)).body;
    tokens.push(cdpUrl.split('/').at(-1));
    return { sessionId, cdpUrl };
  };

  // A proxy that rejects the password, given by its URL and by its dedicated address.
  for (const proxy of [proxyUrl, 'dedicated://any']) {
    const { sessionId, cdpUrl } = await create({ proxyUrl: proxy });
    const page = await (await connect(cdpUrl)).newPage();
    for (const url of ['https://site.example', 'http://127.0.0.1:8088']) {
      await expect(page.goto(url)).rejects.toThrow('net::ERR_');
    }
    await api.stop(sessionId);
  }

  const { sessionId } = await create({ profile: { name: apiKey, persist: true } });
  const faults = [
    { match: { path: '/v1/browser/pools/*' }, effect: { status: 500 } },
    { match: { path: '/cdp/*' }, effect: { status: 502 } },
  ];
  expect((await api.call('POST', '/__emulator/faults', { faults })).status).toBe(200);
  expect((await api.get(`/pools/${inPath}`)).status).toBe(500);
  const second = await create({});
  await expect(connect(second.cdpUrl)).rejects.toThrow('502');
  expect((await api.get(`/session?sessionId=${inPath}`)).status).toBe(404);
  expect((await api.create({ note: 1, proxyUrl: `http://u:${password}@h` })).status).toBe(400);
  expect((await new Api(api.baseURL, `${apiKey}x`).create()).status).toBe(401);
  await api.delete(`/profile?profileName=${inPath}`);
  await api.stop(sessionId); // its profile is not saved, and the log says which
  await api.call('POST', `/__emulator/sessions/${second.sessionId}/crash`);
  await expect.poll(() => lines.join('\n')).toContain('the browser crashed');

  // A Chromium that prints its environment and arguments, and fails.
  const chromium = await fakeChromium('echo $(env) "$*" >&2; exit 3');
  const broken = await start({ apiKey, onLog, chromium });
  const failed = await broken.api.create({ proxyUrl });
  expect(failed.status).toBe(500);
  await socks.close();

  // All of these events are in the log, so the absence of secrets means something.
  const log = lines.join('\n');
  for (const trace of ['egress: ', '/v1/browser/pools/***', 'fault ', 'profile "***"', 'crashed', 'did not start']) {
    expect(log).toContain(trace);
  }
  // Up to the length that the log allows.
  expect(log).toMatch(/Chromium ended with 3: .*--[a-z-]+/);
  expect(tokens).toHaveLength(4);
  for (const secret of [apiKey, password, ...tokens]) {
    for (const form of [secret, encodeURIComponent(secret), encodeURI(secret)]) expect(log).not.toContain(form);
  }
});

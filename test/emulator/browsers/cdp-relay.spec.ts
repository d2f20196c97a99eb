import { startFarChromium } from '../../support/cdp/far-chromium.ts';
import { test as base, expect } from '../../support/emulator/fixtures.ts';
import { handshake } from '../../support/emulator/handshake.ts';
import { RawLink } from '../../support/emulator/raw-link.ts';
import { listeningPorts } from '../../support/processes.ts';
import { slowIf } from '../../support/property-runs.ts';
import { requires } from '../../support/requires.ts';

const test = base.extend<{ link: (cdpUrl: string) => Promise<RawLink> }>({
  link: async ({}, use) => {
    const links: RawLink[] = [];
    await use(async (cdpUrl) => {
      const link = await RawLink.open(cdpUrl);
      links.push(link);
      return link;
    });
    for (const link of links) link.close();
  },
});

const VERSION = '"method":"Browser.getVersion"';
/** `params` with so many arrays in them, one in the other. */
const nested = (depth: number) => `{"id":1,${VERSION},"params":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`;

const INVALID = [
  ...['', 'no JSON', '[]', '7', 'null', '"x"', '{}', `{${VERSION}}`, '{"id":1}', `{"id":1,${VERSION}`],
  ...['"1"', '1.5', '2147483648', '-2147483649', 'null'].map((id) => `{"id":${id},${VERSION}}`),
  ...['5', '""', 'null'].map((method) => `{"id":1,"method":${method}}`),
  ...['"x"', '5', 'true'].map((params) => `{"id":1,${VERSION},"params":${params}}`),
  ...['5', 'null', '"none"'].map((session) => `{"id":1,${VERSION},"sessionId":${session}}`),
  ...[',"x":1}', ',}', '} x', '}//x', '}\0', `}\0{"id":2,${VERSION}}`, `}\n{"id":2,${VERSION}}`].map(
    (end) => `{"id":1,${VERSION}${end}`,
  ),
  `\ufeff{"id":1,${VERSION}}`,
  `{'id':1,${VERSION}}`,
  nested(300),
  nested(100_000),
];
/** In any order and notation of its fields. */
const VALID = [
  `\n{${VERSION},\t"id":8}\n`,
  ...['0', '-1', '1.0', '1e0', '2147483647'].map((id) => `{"id":${id},${VERSION}}`),
  ...['null', '[]', '{"\\u0000":"\\ud800"}'].map((params) => `{"id":1,${VERSION},"params":${params}}`),
  `{"id":1,${VERSION},"sessionId":""}`,
  nested(299),
];

/** The ID of the first response to a message, and the code of its error. */
async function firstResponse(client: RawLink, text: string): Promise<object> {
  client.write(text);
  await expect.poll(() => client.events.length).toBe(1);
  const { id, sessionId, error } = client.events.pop();
  return { id, sessionId, error: error?.code };
}

test.describe('the CDP address', () => {
  test('is refused with a wrong token and after the end', async ({ start }) => {
    const { api } = await start({ browser: 'stub' });
    const { sessionId, cdpUrl } = (await api.create()).body;
    expect(await handshake(cdpUrl)).toMatchObject({ status: 101 });
    expect(await handshake(`${cdpUrl}x`)).toEqual({ status: 404, text: 'There is no browser at this address' });
    expect((await handshake(cdpUrl.replace(/cdp\/.*/, 'devtools/browser/x'))).status).toBe(404);
    await api.stop(sessionId);
    expect(await handshake(cdpUrl)).toEqual({ status: 410, text: 'The session has ended' });
  });

  test('serves no HTTP', async ({ start }) => {
    const { api, baseURL } = await start({ browser: 'stub' });
    const { cdpUrl } = (await api.create()).body;
    for (const path of ['/json/version', '/json', new URL(cdpUrl).pathname]) {
      expect((await fetch(baseURL + path)).status).toBe(404);
    }
  });

  test('accepts several clients, which do not disturb each other', async ({ start, connect }) => {
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

  test('is the only access: the browser listens on no port', async ({ start }) => {
    requires('Linux');
    const emulator = await start();
    await emulator.api.create();
    await emulator.api.create({ type: 'hosted_stealth' });
    const listening = (await Promise.all(emulator.browserPids().map(listeningPorts))).flat();
    expect(listening).toEqual([]);
    // This proves that `listeningPorts` finds a port.
    expect(await listeningPorts(process.pid)).toContain(emulator.port);
  });

  test('gives each client its own sessions, hidden from others', async ({ start, link }) => {
    const { api } = await start();
    const { cdpUrl } = (await api.create()).body;
    const [one, other] = await Promise.all([link(cdpUrl), link(cdpUrl)]);
    const { browserContextId } = await one.send('Target.createBrowserContext', { disposeOnDetach: true });
    const { targetId } = await one.send('Target.createTarget', { url: 'about:blank', browserContextId });
    const { sessionId } = await one.send('Target.attachToTarget', { targetId, flatten: true });
    const theAnswer = { expression: '6 * 7' };
    expect(await one.send('Runtime.evaluate', theAnswer, sessionId)).toMatchObject({ result: { value: 42 } });
    // The ID is of no use to another client, like that of an unknown session.
    await expect(other.send('Runtime.evaluate', theAnswer, sessionId)).rejects.toThrow(
      'Session with given id not found',
    );
    await other.send('Target.setDiscoverTargets', { discover: true });
    expect(other.events.map(({ method }) => method)).not.toContain('Target.attachedToTarget');
    expect(other.events.filter((event) => 'sessionId' in event)).toEqual([]);
    // Everything that a client created is removed with it.
    const contexts = async () => (await other.send('Target.getBrowserContexts')).browserContextIds;
    expect(await contexts()).toContain(browserContextId);
    one.close();
    await expect.poll(contexts).not.toContain(browserContextId);
  });

  for (const browser of ['chromium', 'stub'] as const) {
    test(
      `responds to an invalid message as Chromium does, and continues (${browser})`,
      slowIf(browser === 'stub'),
      async ({ start, link }) => {
        const { api } = await start(browser === 'stub' ? { browser } : {});
        const emulated = await link((await api.create()).body.cdpUrl);
        const far = await startFarChromium([]);
        const real = await link(far.cdpUrl);
        try {
          for (const text of [...INVALID, ...VALID]) {
            const [expected, actual] = await Promise.all([real, emulated].map((client) => firstResponse(client, text)));
            expect(actual, text.slice(0, 100)).toEqual(expected);
          }
        } finally {
          await far.close();
        }
      },
    );
  }

  test('closes the connection when a client sends a binary message, as Chromium does', async ({ start, link }) => {
    const { api } = await start();
    const { sessionId, cdpUrl } = (await api.create()).body;
    const far = await startFarChromium([]);
    for (const address of [far.cdpUrl, cdpUrl]) {
      const client = await link(address);
      client.write(Buffer.from('{"id":1,"method":"Browser.getVersion"}'));
      expect(await client.closed).toBe(1006);
      expect(client.events).toEqual([]);
    }
    await far.close();
    expect((await api.session(sessionId)).body.status).toBe('active');
  });

  test('reads a message with a zero byte as one message, which is invalid', async ({ start, link }) => {
    const { api } = await start();
    const { sessionId, cdpUrl } = (await api.create()).body;
    const [one, other] = await Promise.all([link(cdpUrl), link(cdpUrl)]);
    const close = '{"id":1,"method":"Browser.close"}';
    for (const text of [`{"id":1,"method":"No.such"}\0${close}`, `${close}\0`, `${close}//,"sessionId":"A"}`]) {
      expect(await firstResponse(one, text)).toEqual({ error: -32_700 });
    }
    // An ID is the client's, however large the other client's are.
    one.write('{"id":-2147483648,"method":"Browser.getVersion"}');
    await expect.poll(() => one.events.pop()).toMatchObject({ id: -2_147_483_648, result: { protocolVersion: '1.3' } });
    expect(await other.send('Browser.getVersion')).toMatchObject({ protocolVersion: '1.3' });
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

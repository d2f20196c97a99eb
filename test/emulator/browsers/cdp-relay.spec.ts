import { test as base, expect } from '../../support/emulator/fixtures.ts';
import { handshake } from '../../support/emulator/handshake.ts';
import { RawLink } from '../../support/emulator/raw-link.ts';
import { listeningPorts } from '../../support/processes.ts';

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
    test.skip(process.platform !== 'linux', 'reads /proc');
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

  test('responds with an error to an invalid command, and continues', async ({ start, link }) => {
    const { api } = await start();
    const client = await link((await api.create()).body.cdpUrl);
    for (const text of ['', 'no JSON', '[]', '{}', '{"id":1}', '{"id":"1","method":"Browser.getVersion"}']) {
      client.write(text);
      await expect.poll(() => client.events.pop()).toMatchObject({ error: { code: -32_600 } });
    }
    // In any order and notation of its fields.
    client.write('{ "params": {}, "sessionId": "none", "method": "Runtime.enable", "id": 7 }');
    await expect.poll(() => client.events.pop()).toMatchObject({ id: 7, error: { code: -32_001 }, sessionId: 'none' });
    client.write('\n{"method":"Browser.getVersion",\t"id":8}\n');
    await expect.poll(() => client.events.pop()).toMatchObject({ id: 8, result: { protocolVersion: '1.3' } });
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

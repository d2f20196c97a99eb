import type { LookupFunction, Socket } from 'node:net';
import { inspect } from 'node:util';
import { LeaseError } from '../../../src/errors.ts';
import { TOKEN } from '../../support/cdp/cdp-server.ts';
import { expect, test } from '../../support/cdp/fixtures.ts';
import { freePort } from '../../support/free-port.ts';

/** The connection itself, to a server that replaces the browser. */

test('sends text in both directions, also 100 MB in one message', async ({ serve, open }) => {
  const server = await serve((link) => link.on('message', (data) => link.send(data, { binary: false })));
  const transport = await open(server.cdpUrl);
  const text = 'ä'.repeat(50_000_000);
  const echoed = new Promise<object>((resolve) => {
    transport.onmessage = resolve;
  });
  transport.send({ id: 1, params: { text } });
  const message = (await echoed) as { id: number; params: { text: string } };
  expect(message.id).toBe(1);
  expect(message.params.text === text).toBe(true);
});

test('delivers messages one at a time, with the microtasks of each between them', async ({ serve, open }) => {
  const server = await serve((link) => {
    for (let id = 1; id <= 100; id += 1) link.send(JSON.stringify({ method: `event ${id}` }));
    link.close(1000, 'enough');
  });
  const transport = await open(server.cdpUrl);
  const seen: string[] = [];
  transport.onmessage = (message) => {
    const { method } = message as { method: string };
    seen.push(method);
    void Promise.resolve().then(() => seen.push(`after ${method}`));
  };
  const reason = await new Promise((resolve) => {
    transport.onclose = resolve;
  });
  expect(seen).toEqual(
    Array.from({ length: 100 }, (_, index) => [`event ${index + 1}`, `after event ${index + 1}`]).flat(),
  );
  expect(reason).toBe('The connection to the browser was closed by the other side (code 1000: enough).');
});

test('passes messages on as the same text, in both directions, unless an interceptor changes them', async ({
  serve,
  open,
}) => {
  const received: string[] = [];
  const responseTo = (id: unknown) => `{"result":{ }, "id":${id}}`;
  const server = await serve((link) =>
    link.on('message', (data) => {
      received.push(String(data));
      link.send(responseTo(JSON.parse(String(data)).id));
    }),
  );
  const transport = await open(server.cdpUrl);
  const delivered = new Promise<string | undefined>((resolve) => {
    transport.onmessage = (_message, text) => resolve(text);
  });
  const command = '{"id":1, "method":"Browser.getVersion"}';
  transport.send(JSON.parse(command), command);
  expect(await delivered).toBe(responseTo(1));
  // A command that the transport itself sends gets a separate text.
  await transport.ask();
  expect(received).toEqual([command, expect.stringMatching(/^{"id":-\d+,"method":"Browser.getVersion","params":{}}$/)]);
});

for (const [host, isOffered] of [
  ['127.0.0.1', false],
  ['localhost', false],
  ['browser.test', true],
] as const) {
  test(`${isOffered ? 'offers' : 'does not offer'} compression to ${host}`, async ({ serveUpgrade, open }) => {
    let offered: string | undefined;
    const server = await serveUpgrade((request, socket) => {
      offered = request.headers['sec-websocket-extensions'];
      socket.destroy();
    });
    const address = { address: '127.0.0.1', family: 4 };
    const lookup: LookupFunction = (_host, { all }, callback) =>
      all ? callback(null, [address]) : callback(null, address.address, address.family);
    await open(server.cdpUrl.replace('127.0.0.1', host), { lookup }).catch(() => undefined);
    expect(offered?.includes('permessage-deflate') ?? false).toBe(isOffered);
  });
}

test('responds to a ping', async ({ serve, open }) => {
  let ponged: (data: Buffer) => void;
  const pong = new Promise<Buffer>((resolve) => {
    ponged = resolve;
  });
  const server = await serve((link) => {
    link.on('pong', ponged);
    link.ping('are you there');
  });
  await open(server.cdpUrl);
  expect((await pong).toString()).toBe('are you there');
});

test('reports why the other side closed, without the address', async ({ serve, open }) => {
  const server = await serve((link) => link.on('message', () => link.close(4001, `gone: ${server.cdpUrl}`)));
  const transport = await open(server.cdpUrl);
  transport.send({});
  const closed = await transport.closed;
  expect(closed).toEqual({ code: 4001, reason: `gone: ws://${server.host}/***`, byUs: false });
});

test('reports that the connection was cut', async ({ serve, open }) => {
  const server = await serve((link, socket) => link.on('message', () => socket.destroy()));
  const transport = await open(server.cdpUrl);
  transport.send({});
  expect(await transport.closed).toEqual({ code: 1006, reason: '', byUs: false });
  // Too late, and nothing throws.
  transport.send({});
  transport.close();
});

test('reports that this side closed', async ({ serve, open }) => {
  const server = await serve();
  const transport = await open(server.cdpUrl);
  transport.close();
  expect(await transport.closed).toMatchObject({ byUs: true });
  await expect.poll(() => server.connections).toBe(0);
});

test('does not wait forever for a close frame', async ({ serve, open }) => {
  let deaf: Socket | undefined;
  const server = await serve((_link, socket) => {
    deaf = socket.pause();
  });
  const transport = await open(server.cdpUrl);
  transport.close();
  expect(await transport.closed).toMatchObject({ byUs: true });
  deaf?.resume(); // it may now see the end of the connection
  await expect.poll(() => server.connections).toBe(0);
});

test('calls a listener that is added after the end', async ({ serve, open }) => {
  const server = await serve((link) => link.close(4000, 'no'));
  const transport = await open(server.cdpUrl);
  await transport.closed;
  const reason = await new Promise((resolve) => {
    transport.onclose = resolve;
  });
  expect(reason).toContain('code 4000: no');
});

test('closes the connection when a message is not JSON', async ({ serve, open }) => {
  const server = await serve((link) => link.send('hello'));
  const transport = await open(server.cdpUrl);
  expect(await transport.closed).toMatchObject({ reason: 'a message was not JSON', byUs: false });
});

for (const status of [302, 401, 404, 410, 503]) {
  test(`rejects after HTTP ${status}`, async ({ serveUpgrade, open }) => {
    const server = await serveUpgrade((request, socket) => {
      const body = `no: ${request.url}`;
      socket.end(
        `HTTP/1.1 ${status} No\r\nLocation: /else\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
      );
    });
    const error = await open(server.cdpUrl, { sessionId: 'ses_1' }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LeaseError);
    expect(error).toMatchObject({ code: 'CONNECT_FAILED', sessionId: 'ses_1' });
    expect(String(error)).toBe(
      `LeaseError [CONNECT_FAILED]: Could not connect to the browser of session ses_1 at ws://${server.host}: the connection was refused with HTTP ${status}.`,
    );
    expect(inspect(error, { depth: null, showHidden: true })).not.toContain(TOKEN);
    await expect.poll(() => server.connections).toBe(0);
  });
}

test('rejects when the address does not respond', async ({ open }) => {
  const error = await open(`ws://127.0.0.1:${await freePort()}/cdp/ses_1?token=${TOKEN}`).catch(
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ code: 'CONNECT_FAILED', message: expect.stringContaining('ECONNREFUSED') });
  expect(inspect(error, { depth: null, showHidden: true })).not.toContain(TOKEN);
});

test('rejects when the connection is dropped without a response', async ({ serveUpgrade, open }) => {
  const server = await serveUpgrade((_request, socket) => socket.destroy());
  await expect(open(server.cdpUrl)).rejects.toMatchObject({ code: 'CONNECT_FAILED' });
});

test('rejects without a response within the time limit', async ({ serveUpgrade, open }) => {
  const server = await serveUpgrade((_request, socket) => socket.resume());
  const error = await open(server.cdpUrl, { timeout: 200 }).catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: 'CONNECT_FAILED',
    message: expect.stringContaining('no response within 200 ms'),
  });
  await expect.poll(() => server.connections).toBe(0);
});

for (const address of ['', 'nonsense', `http://127.0.0.1/${TOKEN}`]) {
  test(`rejects an invalid WebSocket address: ${address.replace(TOKEN, '…') || 'empty'}`, async ({ open }) => {
    const error = await open(address).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: 'CONNECT_FAILED',
      message: 'Could not connect to the browser: its cdpUrl is not a ws:// or wss:// URL.',
    });
  });
}

test('sends credentials in the address as a header, and shows them nowhere', async ({ serveUpgrade, open }) => {
  let authorization: string | undefined;
  const server = await serveUpgrade((request, socket) => {
    authorization = request.headers.authorization;
    socket.end('HTTP/1.1 401 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
  });
  // A lone % is literal, as in Chromium.
  const error = await open(`ws://me%:${TOKEN}@${server.host}/`).catch((reason: unknown) => reason);
  expect(authorization).toBe(`Basic ${Buffer.from(`me%:${TOKEN}`).toString('base64')}`);
  expect(inspect(error, { depth: null, showHidden: true })).not.toContain(TOKEN);
});

test('prints nothing except what its listeners print', async ({ serve, open }) => {
  const server = await serve();
  const transport = await open(server.cdpUrl);
  expect(inspect(transport, { depth: null, showHidden: true })).not.toContain(TOKEN);
  expect(JSON.stringify(transport)).not.toContain(TOKEN);
});

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@playwright/test';
import { ExposedServers } from '../../../src/clients/playwright/relay/exposed-servers.ts';
import { parseExposure } from '../../../src/options/expose-network.ts';
import { isStreamFrame, Streams } from '../../../src/relay/streams.ts';
import { freePort } from '../../support/free-port.ts';

/** Both ends of a connection in this process. */
function ends(servers: ExposedServers): Streams {
  const relay: Streams = new Streams((frame, sent) => {
    expect(isStreamFrame(frame)).toBe(true);
    worker.receive(frame);
    sent();
  });
  const worker = new Streams(
    (frame, sent) => {
      relay.receive(frame);
      sent();
    },
    (stream, to) => servers.connect(stream, to),
  );
  return relay;
}

/** A server that sends back in upper case what it gets until the end. */
async function startEcho() {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let received = '';
    socket.on('data', (data) => {
      received += data;
    });
    socket.on('end', () => socket.end(received.toUpperCase()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, [Symbol.asyncDispose]: async () => void server.close() };
}

async function codeOf(stream: NodeJS.EventEmitter): Promise<string> {
  const [error] = await once(stream, 'error').catch((thrown) => [thrown]);
  return error.code;
}

test('connects through the other end, in both directions, to the end', async () => {
  await using server = await startEcho();
  const streams = ends(new ExposedServers(parseExposure('<loopback>')));
  const content = 'a'.repeat(1_000_000);
  const [one, two] = [
    streams.dial({ host: '127.0.0.1', port: server.port, by: 'page' }),
    streams.dial({ host: 'localhost', port: server.port, by: 'page' }),
  ];
  await Promise.all([once(one, 'connect'), once(two, 'connect')]);
  one.end(content);
  two.end('two');
  expect(await text(two)).toBe('TWO');
  expect(await text(one)).toBe(content.toUpperCase());
});

test('lets a fast server wait for a slow reader', async () => {
  const total = 200 * 1024 * 1024;
  const part = Buffer.alloc(64 * 1024);
  let sent = 0;
  const server = createServer(async (socket) => {
    socket.resume();
    for (; sent < total; sent += part.length) if (!socket.write(part)) await once(socket, 'drain');
    socket.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stream = ends(new ExposedServers(parseExposure('<loopback>'))).dial({ host: '127.0.0.1', port, by: 'page' });
  let read = 0;
  let ahead = 0;
  for await (const { length } of stream) {
    read += length;
    ahead = Math.max(ahead, sent - read);
    // The server can send while this waits.
    for (let turn = 0; turn < 5; turn += 1) await setImmediate();
  }
  server.close();
  expect(read).toBe(total);
  // The window, and what the sockets of this machine hold.
  expect(ahead / 1024 / 1024).toBeLessThan(24);
});

test('reports why there is no connection', async () => {
  const port = await freePort();
  const streams = ends(new ExposedServers(parseExposure('<loopback>')));
  expect(await codeOf(streams.dial({ host: '127.0.0.1', port, by: 'page' }))).toBe('ECONNREFUSED');
});

test('connects only to servers that are exposed', async () => {
  await using server = await startEcho();
  const { port } = server;
  for (const rules of ['none', `localhost:${port}`, '127.0.0.1:1', '*.internal']) {
    const streams = ends(new ExposedServers(parseExposure(rules)));
    expect(await codeOf(streams.dial({ host: '127.0.0.1', port: port, by: 'page' })), rules).toBe('EACCES');
  }
});

test('with `auto`, connects to loopback once the test visits it, not because the relay names it', async () => {
  await using server = await startEcho();
  const { port } = server;
  const url = `http://127.0.0.1:${port}/page`;
  const call = (method: string, params: object) => JSON.stringify({ id: 1, guid: 'frame@1', method, params });
  const reaches = async (...calls: string[]) => {
    const servers = new ExposedServers(parseExposure('auto'));
    for (const each of calls) servers.observe(each);
    const stream = ends(servers).dial({ host: '127.0.0.1', port, by: 'page' });
    const connected = new Promise((done) => stream.once('connect', () => done('connected')));
    const code = await Promise.race([connected, codeOf(stream)]);
    stream.destroy();
    return [code, servers.origins];
  };
  const origin = new URL(url).origin;
  expect(await reaches()).toEqual(['EACCES', []]);
  expect(await reaches(call('goto', { url: 'http://example.com/' }))).toEqual(['EACCES', []]);
  expect(await reaches(call('goto', { url: 'http://localhost:81/' }))).toEqual(['connected', [origin]]);
  expect(await reaches(call('evaluateExpression', { expression: `"goto" ${url}` }))).toEqual(['EACCES', []]);
  expect(await reaches(call('goto', { url }))).toEqual(['connected', [origin]]);
  expect(await reaches(call('newContext', { baseURL: origin }))).toEqual(['connected', [origin]]);
});

test('ends all streams with their connection', async () => {
  await using server = await startEcho();
  const streams = ends(new ExposedServers(parseExposure('<loopback>')));
  const stream = streams.dial({ host: '127.0.0.1', port: server.port, by: 'page' });
  await once(stream, 'connect');
  const code = codeOf(stream);
  streams.end();
  expect(await code).toBe('ECONNRESET');
});

test('ignores frames that are malformed or of unknown streams', () => {
  const streams = new Streams(
    () => undefined,
    () => expect(true).toBe(false),
  );
  for (const bytes of [[1], [3, 0, 0, 0, 9, 1], [1, 0, 0, 0, 1, 120], [5, 0, 0, 0, 1]]) {
    streams.receive(Buffer.from(bytes));
  }
  expect(isStreamFrame(Buffer.from('{"type":"ask"}'))).toBe(false);
});

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from '@playwright/test';
import { refuseOtherUsers } from '../../../../src/common/platform/local-access.ts';
import { requires } from '../../../support/requires.ts';

const NOBODY = 65_534;

async function refusingServer(listener: RequestListener) {
  const server = createServer(listener);
  refuseOtherUsers(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

test('other users of this machine are disconnected', async () => {
  requires('Linux');
  requires('root');
  const { server, port } = await refusingServer((_, response) => response.end('served'));
  const responseTo = async (uid: number) => {
    const ask = `exec 3<>/dev/tcp/127.0.0.1/${port}; printf 'GET / HTTP/1.0\r\n\r\n' >&3; cat <&3`;
    const child = spawn('bash', ['-c', ask], { uid, cwd: '/', stdio: ['ignore', 'pipe', 'ignore'] });
    let output = '';
    child.stdout.on('data', (data) => {
      output += data;
    });
    await once(child, 'close');
    return output;
  };
  try {
    expect(await responseTo(0)).toContain('served');
    expect(await responseTo(NOBODY)).toBe('');
  } finally {
    server.close();
  }
});

test('so are those that have closed the connection before it is accepted: the system no longer says whose it was', async () => {
  requires('Linux');
  requires('root');
  let requests = 0;
  const { server, port } = await refusingServer((_, response) => {
    requests += 1;
    response.end();
  });
  const ask = `exec 3<>/dev/tcp/127.0.0.1/${port}; printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3`;
  try {
    const connected = once(server, 'connection');
    // This process accepts nothing meanwhile.
    expect(spawnSync('bash', ['-c', ask], { uid: NOBODY, cwd: '/' }).status).toBe(0);
    const until = performance.now() + 5_000;
    while (!isForgotten(port) && performance.now() < until);
    expect(isForgotten(port)).toBe(true);
    const [socket] = await connected;
    if (!socket.closed) await once(socket, 'close');
    expect(requests).toBe(0);
  } finally {
    server.close();
  }
});

test('so are those that come from the port of a program of this user, at another address of loopback', async () => {
  requires('Linux');
  requires('root');
  const { server, port } = await refusingServer((_, response) => response.end('served'));
  const ours = connect(port, '127.0.0.1');
  await once(ours, 'connect');
  const from = { port, host: '127.0.0.1', localAddress: '127.0.0.2', localPort: ours.localPort };
  const script = `const socket = require('node:net').connect(${JSON.stringify(from)});
    socket.on('error', () => undefined).pipe(process.stdout);
    socket.write('GET / HTTP/1.0\\r\\n\\r\\n');`;
  try {
    const child = spawn(process.execPath, ['-e', script], { uid: NOBODY, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] });
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect({ output, errors }).toEqual({ output: '', errors: '' });
  } finally {
    ours.destroy();
    server.close();
  }
});

/** Whether the system lists a closed connection to this port, whose user it has forgotten. */
function isForgotten(port: number): boolean {
  const to = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = readFileSync('/proc/net/tcp', 'latin1').split('\n');
  return lines.some((line) => {
    const [, , remote = '', state, , , , user] = line.trim().split(/\s+/);
    return remote.endsWith(to) && state === '05' && user === '0';
  });
}

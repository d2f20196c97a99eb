import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@playwright/test';
import { refuseOtherUsers } from '../../../../src/common/platform/local-access.ts';
import { requires } from '../../../support/requires.ts';

const NOBODY = 65_534;

test('other users of this machine are disconnected', async () => {
  requires('Linux');
  requires('root');
  const server = createServer((_, response) => response.end('served'));
  refuseOtherUsers(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
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

import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { requires } from '../../support/requires.ts';
import { expect, poolwright, test } from '../../support/unit/cli/command-line.ts';

/** A flag with a wrong number or file is a mistake of the user: one clear line, and exit code 2. */

const SECRET = { POOLWRIGHT_RELAY_SECRET: 'a secret of 32 characters or more' };
const RELAY = ['relay', '--allow', 'cdp.example', ...(process.getuid?.() === 0 ? ['--user', '65534:65534'] : [])];

async function expectRefused(args: readonly string[], message: RegExp, directory?: string): Promise<void> {
  const { code, stderr } = await poolwright(args, SECRET, directory);
  expect([args, code, stderr]).toEqual([args, 2, expect.stringMatching(message)]);
  expect(stderr).not.toContain('bug');
  const json = await poolwright([...args, '--json'], SECRET, directory);
  expect(json.code).toBe(2);
  expect(JSON.parse(json.stdout)).toMatchObject({ error: { code: 'OPTIONS_INVALID' } });
}

test('a port that does not exist', async () => {
  for (const command of [['watch'], ['emulator'], RELAY]) {
    for (const port of ['99999', '-1']) {
      await expectRefused(
        [...command, '--port', port],
        /'--port <number>' argument '-?\d+' is invalid\. It must be a port/,
      );
    }
  }
});

test.describe('on an address that cannot be used', () => {
  requires('POSIX');

  test('a port in use', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    for (const command of [['watch', '--no-open'], RELAY]) {
      await expectRefused(
        [...command, '--port', String(port)],
        /^poolwright: Port \d+ of 127\.0\.0\.1 is in use: .*\n$/,
      );
    }
    server.close();
  });

  test('a host that is not this machine', async () => {
    await expectRefused(
      [...RELAY, '--behind-tls', '--host', '192.0.2.1'],
      /^poolwright: `--host 192\.0\.2\.1` is not .*\n$/,
    );
  });

  test('a certificate or key that is missing or broken', async ({ directory }) => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    await writeFile(join(directory, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
    await writeFile(join(directory, 'broken.pem'), 'broken');
    for (const [cert, key, message] of [
      ['missing.pem', 'key.pem', /^poolwright: `--cert missing\.pem` cannot be read: ENOENT.*\n$/],
      ['broken.pem', 'missing.pem', /^poolwright: `--key missing\.pem` cannot be read: ENOENT.*\n$/],
      ['broken.pem', 'key.pem', /^poolwright: `--cert broken\.pem` is not a certificate in PEM: .*\n$/],
    ] as const) {
      await expectRefused([...RELAY, '--cert', cert, '--key', key], message, directory);
    }
  });
});

import { mkdtemp, rm, rmdir, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import { isSocketDirectory, makeSocketAddress, socketParents } from '../../../../src/broker/rpc/socket-address.ts';
import { longestSocketPath } from '../../../../src/common/platform/socket-path.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { requires } from '../../../support/requires.ts';

const LETTERS = 'XXXXXX';
/** The path below the parent of a socket's directory. */
const BELOW = `/poolwright-${LETTERS}/broker.sock`;
const MAC = '/var/directories/2k/tmccc7sj7pg2c0qt6646cz8r0000gn/T';

test('macOS: the temporary directory has a long path that still fits', () => {
  expect(socketParents({ platform: 'darwin', temporary: `${MAC}/` })).toEqual([MAC, '/tmp']);
  // A temporary directory inside it, as created by CI runners, Nix and test tools, is too long.
  expect(socketParents({ platform: 'darwin', temporary: `${MAC}/nix-shell.AbCdEf/playwright` })).toEqual(['/tmp']);
});

test('Linux: the temporary directory, unless a path in it would be truncated', () => {
  expect(socketParents({ platform: 'linux', temporary: '/tmp' })).toEqual(['/tmp', '/tmp']);
  const longest = `/${'t'.repeat(107 - 1 - BELOW.length)}`;
  expect(socketParents({ platform: 'linux', temporary: longest })).toEqual([longest, '/tmp']);
  expect(socketParents({ platform: 'linux', temporary: `${longest}t` })).toEqual(['/tmp']);
  // Bytes count, not characters.
  expect(socketParents({ platform: 'linux', temporary: longest.replace(/t$/, 'ü') })).toEqual(['/tmp']);
});

test('the path of a socket fits, whatever the temporary directory', () => {
  const platforms = fc.constantFrom<NodeJS.Platform>('linux', 'darwin', 'freebsd');
  fc.assert(
    fc.property(platforms, fc.string({ unit: 'grapheme', maxLength: 160 }), (platform, name) => {
      const [parent = ''] = socketParents({ platform, temporary: `/${name}` });
      expect(parent.startsWith('/')).toBe(true);
      expect(Buffer.byteLength(parent + BELOW)).toBeLessThanOrEqual(longestSocketPath(platform));
    }),
    propertyRuns(500),
  );
});

test('Windows: a separate pipe, and no directory', async () => {
  const machine = { platform: 'win32', temporary: 'C:\\Users\\me\\AppData\\Local\\Temp' } as const;
  const [one, other] = [await makeSocketAddress(machine), await makeSocketAddress(machine)];
  expect(one).toEqual({ path: expect.stringMatching(/^\\\\\.\\pipe\\poolwright-[0-9a-f]{16}$/), directory: null });
  expect(other.path).not.toBe(one.path);
  expect(isSocketDirectory('\\\\.\\pipe', machine)).toBe(false);
});

test.describe('on this machine', () => {
  requires('POSIX');

  test('a broker can listen, however long the path of the temporary directory is', async () => {
    const outer = await mkdtemp(join(tmpdir(), 'long-'));
    for (const temporary of [outer, join(outer, 'x'.repeat(120))]) {
      const machine = { platform: process.platform, temporary };
      const { path, directory } = await makeSocketAddress(machine);
      expect(directory).toBe(dirname(path));
      expect((await stat(dirname(path))).mode & 0o077).toBe(0);
      expect(isSocketDirectory(dirname(path), machine)).toBe(true);
      const server = createServer();
      await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve));
      expect((await stat(path)).isSocket()).toBe(true);
      await new Promise((resolve) => server.close(resolve));
      await rmdir(dirname(path));
    }
    await rm(outer, { recursive: true });
  });
});

test('a sweep recognizes only the directory of a socket', () => {
  const machine = { platform: 'linux', temporary: '/own' } as const;
  for (const directory of ['/own/poolwright-aB3xYz', '/tmp/poolwright-aB3xYz']) {
    expect(isSocketDirectory(directory, machine), directory).toBe(true);
  }
  for (const directory of [
    '/own',
    '/poolwright-aB3xYz',
    '/own/a/poolwright-aB3xYz',
    '/own/poolwright-',
    '/own/other-aB3xYz',
  ]) {
    expect(isSocketDirectory(directory, machine), directory).toBe(false);
  }
});

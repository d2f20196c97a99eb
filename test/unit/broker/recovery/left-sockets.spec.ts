import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { test as base, expect } from '@playwright/test';
import { removeLeftSockets } from '../../../../src/broker/recovery/left-sockets.ts';
import { systemIdentity } from '../../../../src/broker/recovery/system-identity.ts';
import { makeSocketAddress, type SocketAddress } from '../../../../src/broker/rpc/socket-address.ts';
import { requires } from '../../../support/requires.ts';

/** The directories of sockets that killed runs leave. */

requires('POSIX');

const test = base.extend<{ temporary: string }>({
  temporary: async ({}, use) => {
    const before = process.env.TMPDIR;
    const directory = await mkdtemp(join(tmpdir(), 'left-'));
    process.env.TMPDIR = directory;
    await use(directory);
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    await rm(directory, { recursive: true });
  },
});

/** What a run and its features leave. @param pid the runner's */
async function left(pid: number | null, place = systemIdentity()): Promise<string> {
  const { path, directory } = (await makeSocketAddress()) as SocketAddress & { directory: string };
  await writeFile(path, '');
  await writeFile(join(directory, 'watch.json'), '{}');
  if (pid !== null) await writeFile(join(directory, 'runner.json'), JSON.stringify({ pid, place }));
  return directory;
}

async function deadProcess(): Promise<number> {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  return child.pid ?? 0;
}

async function age(directory: string, hours: number): Promise<void> {
  const then = Date.now() / 1_000 - hours * 3_600;
  await utimes(directory, then, then);
}

test('removes the directory of a run whose runner and broker are dead', async ({ temporary }) => {
  const directory = await left(await deadProcess());
  await removeLeftSockets();
  expect(await readdir(temporary)).not.toContain(basename(directory));
});

test('keeps the directory while a broker listens or the runner can start another one', async ({ temporary }) => {
  const replaced = await left(process.pid);
  const listening = await makeSocketAddress();
  const server = createServer().listen(listening.path);
  await once(server, 'listening');
  const runner = JSON.stringify({ pid: await deadProcess(), place: systemIdentity() });
  await writeFile(join(dirname(listening.path), 'runner.json'), runner);
  await removeLeftSockets();
  expect((await readdir(temporary)).sort()).toEqual(
    [replaced, dirname(listening.path)].map((each) => basename(each)).sort(),
  );
  server.close();
});

test('keeps the directory of another place or version for a day', async () => {
  const pid = await deadProcess();
  const directories = [await left(pid, 'a container'), await left(pid, null), await left(null)];
  for (const directory of directories) await age(directory, 23);
  await removeLeftSockets();
  for (const directory of directories) await access(directory);
  for (const directory of directories) await age(directory, 25);
  await removeLeftSockets();
  for (const directory of directories) await expect(access(directory)).rejects.toThrow('ENOENT');
});

test('removes nothing else', async ({ temporary }) => {
  const others = [join(temporary, 'poolwright-lease-a'), join(temporary, 'other')];
  for (const directory of others) {
    await mkdir(directory, { mode: 0o700 });
    await age(directory, 100);
  }
  const open = await left(await deadProcess());
  // Others may have written into it.
  await chmod(open, 0o777);
  await removeLeftSockets();
  for (const directory of [...others, open]) await access(directory);
});

import { execFile } from 'node:child_process';
import { chown, lstat, mkdtemp, readdir, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isAlive } from '../common/platform/processes.ts';

/** An account of the operating system. */
export interface Account {
  uid: number;
  gid: number;
}

/** Begins the name of each directory; the process ID of the relay follows. */
const PREFIX = 'poolwright-relay-';
/** Time limit for removing a directory, in ms. */
const REMOVE_TIMEOUT_MS = 30_000;

/** Makes the directory of a lease. @param user its owner; undefined: the account of this process */
export async function makeLeaseDirectory(user: Account | undefined): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
  if (!user) return directory;
  try {
    await chown(directory, user.uid, user.gid);
  } catch (error) {
    await rmdir(directory);
    throw error;
  }
  return directory;
}

/**
 * Removes the directory of a lease, with the rights of its owner: root could be led elsewhere by links that the owner
 * makes meanwhile.
 */
export async function removeLeaseDirectory(directory: string, user: Account | undefined): Promise<void> {
  const options = { ...user, timeout: REMOVE_TIMEOUT_MS };
  await promisify(execFile)('rm', ['-rf', '--', directory], options).catch(() => undefined);
}

/**
 * Removes the directories of relays that no longer run: they and the processes of their leases were killed at once.
 * Call it before the first lease: in a container, each relay has the same process ID.
 */
export async function sweepLeaseDirectories(user: Account | undefined): Promise<void> {
  const owner = user?.uid ?? process.getuid?.();
  for (const name of await readdir(tmpdir())) {
    const [, pid] = /^poolwright-relay-(\d+)-\w+$/.exec(name) ?? [];
    if (pid === undefined || (Number(pid) !== process.pid && isAlive(Number(pid)))) continue;
    const directory = join(tmpdir(), name);
    const found = await lstat(directory).catch(() => null);
    if (found?.isDirectory() && found.uid === owner) await removeLeaseDirectory(directory, user);
  }
}

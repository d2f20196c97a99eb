import { createHash } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { lstat, mkdtemp, readdir } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '../../common/platform/processes.ts';
import { removeTree } from './trees.ts';

/**
 * A digest of the system that process IDs belong to: containers that share a temporary directory do not see each
 * other's processes, and may even have the same host name. Short, because it is part of the paths of Chromium's
 * sockets, which have a limit.
 */
const MACHINE = createHash('sha256').update(`${hostname()} ${pidNamespace()}`).digest('hex').slice(0, 6);
const PREFIX = `poolwright-emulator-${MACHINE}-`;

/** For `mkdtemp`: a directory in the temporary one that is removed with those of this emulator, should it die. */
export function temporaryDirectoryName(what: string): string {
  return `${PREFIX}${process.pid}-${what}-`;
}

/** The directory that holds the profile directories of one emulator. */
export class ProfileDirectories {
  readonly #root: string;

  private constructor(root: string) {
    this.#root = root;
  }

  /** Also removes what emulators that died by SIGKILL left behind. */
  static async create(): Promise<ProfileDirectories> {
    await sweep();
    return new ProfileDirectories(await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`)));
  }

  /** A fresh profile directory. */
  add(): Promise<string> {
    return mkdtemp(join(this.#root, 'profile-'));
  }

  remove(directory: string): Promise<void> {
    return removeTree(directory);
  }

  removeAll(): Promise<void> {
    return removeTree(this.#root);
  }
}

async function sweep(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names) {
    if (!name.startsWith(PREFIX)) continue;
    const pid = Number.parseInt(name.slice(PREFIX.length), 10);
    if (!Number.isInteger(pid) || isAlive(pid)) continue;
    const directory = join(tmpdir(), name);
    const stats = await lstat(directory).catch(() => undefined);
    // Anyone may write to the temporary directory: only our own directories are ours to remove.
    if (stats?.isDirectory() && stats.uid === (process.getuid?.() ?? stats.uid)) await removeTree(directory);
  }
}

/** Linux's name of the space that process IDs are counted in; empty where there is only one. */
function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

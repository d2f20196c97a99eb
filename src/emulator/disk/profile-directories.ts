import { createHash } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Whose process IDs these are is part of the name: containers that share a temporary folder do not see each other's
 * processes, and may share the host's name, too. By a digest, because Chromium's sockets lie further down, and their
 * addresses may not be long.
 */
const MACHINE = createHash('sha256').update(`${hostname()} ${pidNamespace()}`).digest('hex').slice(0, 6);
const PREFIX = `poolwright-emulator-${MACHINE}-`;

/** For `mkdtemp`: a folder in the temporary one that is removed with those of this emulator, should it die. */
export function temporaryFolderName(what: string): string {
  return `${PREFIX}${process.pid}-${what}-`;
}

/** The folder that holds the profile folders of one emulator. */
export class ProfileFolders {
  readonly #root: string;

  private constructor(root: string) {
    this.#root = root;
  }

  /** Also removes what emulators that died by SIGKILL left behind. */
  static async create(): Promise<ProfileFolders> {
    await sweep();
    return new ProfileFolders(await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`)));
  }

  /** A fresh profile folder. */
  add(): Promise<string> {
    return mkdtemp(join(this.#root, 'profile-'));
  }

  remove(folder: string): Promise<void> {
    return removeFolder(folder);
  }

  removeAll(): Promise<void> {
    return removeFolder(this.#root);
  }
}

/** A helper process may be writing its last file: `rm` tries again for a moment, and the next sweep gets the rest. */
async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }).catch(() => undefined);
}

async function sweep(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names) {
    if (!name.startsWith(PREFIX)) continue;
    const pid = Number.parseInt(name.slice(PREFIX.length), 10);
    if (!Number.isInteger(pid) || isAlive(pid)) continue;
    const folder = join(tmpdir(), name);
    const stats = await lstat(folder).catch(() => undefined);
    // Anyone may write to the temporary folder: only our own folders are ours to remove.
    if (stats?.isDirectory() && stats.uid === (process.getuid?.() ?? stats.uid)) await removeFolder(folder);
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

/** Whether there is a process of this ID. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

import { randomBytes } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { posix } from 'node:path';
import { longestSocketPath } from '../../common/platform/socket-path.ts';

/** The machine that an address is for. */
export interface Machine {
  platform: NodeJS.Platform;
  /** As `os.tmpdir()` says it. */
  temporary: string;
}

/** Where a broker listens. */
export interface SocketAddress {
  /** Path of a socket, or name of a pipe on Windows. */
  path: string;
  /** The folder that holds nothing but the socket, which only this user may enter; null on Windows. */
  folder: string | null;
}

/** `mkdtemp` adds six letters. */
const PREFIX = 'poolwright-';
const SOCKET = 'broker.sock';
/** There on every Unix, and short. */
const SHORTEST_TEMPORARY = '/tmp';

/** Makes the folder of a broker's socket, or a name for its pipe, which nobody else has. */
export async function makeSocketAddress(machine: Machine = thisMachine()): Promise<SocketAddress> {
  const [parent] = socketParents(machine);
  if (parent === undefined) {
    return { path: `\\\\.\\pipe\\${PREFIX}${randomBytes(8).toString('hex')}`, folder: null };
  }
  const folder = await mkdtemp(posix.join(parent, PREFIX));
  return { path: posix.join(folder, SOCKET), folder };
}

/** Whether a folder may be one that {@link makeSocketAddress} has made on this machine, by its name alone. */
export function isSocketFolder(folder: string, machine: Machine = thisMachine()): boolean {
  return socketParents(machine).includes(posix.dirname(folder)) && /^poolwright-\w{6}$/.test(posix.basename(folder));
}

/**
 * Folders that a socket's folder may lie in, the one to take first; none on Windows. macOS's own temporary folder takes half of
 * what a socket's path may have, and a CI's or a Nix shell's may take all: a longer path would be cut off, or refused.
 */
export function socketParents({ platform, temporary }: Machine): string[] {
  if (platform === 'win32') return [];
  const own = posix.resolve(temporary); // workers may have another working directory
  const path = posix.join(own, `${PREFIX}XXXXXX`, SOCKET);
  const fits = Buffer.byteLength(path) <= longestSocketPath(platform);
  return fits ? [own, SHORTEST_TEMPORARY] : [SHORTEST_TEMPORARY];
}

function thisMachine(): Machine {
  return { platform: process.platform, temporary: tmpdir() };
}

import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { posix } from 'node:path';
import { longestSocketPath } from '../../common/platform/socket-path.ts';

export interface Machine {
  platform: NodeJS.Platform;
  /** As returned by `os.tmpdir()`. */
  temporary: string;
}

/** Where a broker listens. */
export interface SocketAddress {
  /** Path of a socket, or name of a pipe on Windows. */
  path: string;
  /** The directory of the socket, which only this user may enter; null on Windows. */
  directory: string | null;
}

/** `mkdtemp` adds six letters. */
const PREFIX = 'poolwright-';
const SOCKET = 'broker.sock';
/** Exists on every Unix and is short. */
const SHORTEST_TEMPORARY = '/tmp';

/** Creates a unique directory for a broker's socket, or a unique name for its pipe. */
export async function makeSocketAddress(machine: Machine = thisMachine()): Promise<SocketAddress> {
  const [parent] = socketParents(machine);
  if (parent === undefined) {
    return { path: `\\\\.\\pipe\\${PREFIX}${randomBytes(8).toString('hex')}`, directory: null };
  }
  const directory = await mkdtemp(posix.join(parent, PREFIX));
  return { path: socketIn(directory), directory };
}

/** Whether {@link makeSocketAddress} may have made this directory on this machine, judged by its name alone. */
export function isSocketDirectory(directory: string, machine: Machine = thisMachine()): boolean {
  return (
    socketParents(machine).includes(posix.dirname(directory)) && /^poolwright-\w{6}$/.test(posix.basename(directory))
  );
}

export function socketIn(directory: string): string {
  return posix.join(directory, SOCKET);
}

/** The directories that {@link makeSocketAddress} has made for this user on this machine and that still exist. */
export function ownSocketDirectories(machine: Machine = thisMachine()): string[] {
  return [...new Set(socketParents(machine))].flatMap((parent) =>
    namesIn(parent)
      .map((name) => posix.join(parent, name))
      .filter((path) => isSocketDirectory(path, machine) && isPrivate(path)),
  );
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** Whether only this user can have written into this directory. */
function isPrivate(directory: string): boolean {
  try {
    const { uid, mode } = statSync(directory);
    return uid === process.getuid?.() && (mode & 0o077) === 0;
  } catch {
    return false;
  }
}

/** Whether the runner has removed the directory of its broker's socket: its run is over. Never true on Windows. */
export function isRunOver(path: string, platform: NodeJS.Platform = process.platform): boolean {
  return platform !== 'win32' && !existsSync(posix.dirname(path));
}

/**
 * Returns the possible parents of a socket's directory, the preferred one first; none on Windows. macOS's temporary
 * directory takes half of the maximum length of a socket path, and that of a CI or a Nix shell may take all of it: a
 * longer path would be truncated or rejected.
 */
export function socketParents({ platform, temporary }: Machine): string[] {
  if (platform === 'win32') return [];
  const preferred = posix.resolve(temporary); // workers may have a different working directory
  const path = posix.join(preferred, `${PREFIX}XXXXXX`, SOCKET);
  const fits = Buffer.byteLength(path) <= longestSocketPath(platform);
  return fits ? [preferred, SHORTEST_TEMPORARY] : [SHORTEST_TEMPORARY];
}

function thisMachine(): Machine {
  return { platform: process.platform, temporary: tmpdir() };
}

/** The state of a broker's socket; `unclear`: unknown, for example because it belongs to another user. */
export type SocketProbe = 'responds' | 'nobody' | 'unclear';

/** A broker that accepts the connection but stays silent for this long is alive, too, in ms. */
const SOCKET_TIMEOUT_MS = 2_000;

/** Whether a broker listens at a socket: one that was killed has left the file. Never rejects. */
export async function probeSocket(path: string): Promise<SocketProbe> {
  if (path === '') return 'unclear';
  return await new Promise((resolve) => {
    const socket = connect({ path });
    const settle = (probe: SocketProbe) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(probe);
    };
    const timer = setTimeout(() => settle('responds'), SOCKET_TIMEOUT_MS);
    socket.once('connect', () => settle('responds'));
    socket.once('error', ({ code }: NodeJS.ErrnoException) =>
      settle(code === 'ENOENT' || code === 'ECONNREFUSED' ? 'nobody' : 'unclear'),
    );
  });
}

import { open, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { PoolwrightError } from '../../errors.ts';
import { InFlight } from './remote-file.ts';
import type { RemoteObject } from './remote-object.ts';

/** Bytes of files in one message. */
const MESSAGE_BYTES = 1024 * 1024;
/** How many messages may wait for their response. */
const MESSAGES_IN_FLIGHT = 4;
/** A test does not upload a directory with more files than this on purpose. */
const MOST_FILES = 10_000;

/** A file of this machine. */
export interface LocalFile {
  path: string;
  name: string;
  /** For a file of a directory: its path in there as the page gets it, including the directory's name. */
  relativePath?: string;
}

/**
 * Sends files of this machine to a page, small ones together.
 * @param pieces a list, to which the page adds a list of pieces for each file
 * @returns when each file was last modified, in ms since the epoch
 * @throws Error when a file cannot be read, PoolwrightError when the page or the browser is gone
 */
export async function sendFiles(pieces: RemoteObject, files: readonly LocalFile[]): Promise<number[]> {
  const times: number[] = [];
  const inFlight = new InFlight(MESSAGES_IN_FLIGHT);
  const buffer = Buffer.allocUnsafe(MESSAGE_BYTES);
  let message: [number, string][] = [];
  let size = 0;
  const send = async () => {
    const sent = message;
    message = [];
    size = 0;
    await inFlight.add(() => pieces.call('addPieces', sent));
  };
  try {
    for (const [at, { path }] of files.entries()) {
      const file = await open(path);
      try {
        for (;;) {
          const { bytesRead } = await file.read(buffer, 0, MESSAGE_BYTES - size);
          if (bytesRead === 0) break;
          message.push([at, buffer.toString('base64', 0, bytesRead)]);
          size += bytesRead;
          if (size === MESSAGE_BYTES) await send();
        }
        const { mtimeMs } = await file.stat();
        times.push(Math.floor(mtimeMs));
      } finally {
        await file.close();
      }
    }
    if (size > 0) await send();
    await inFlight.done();
    return times;
  } finally {
    await inFlight.settled();
  }
}

/**
 * The files in a directory and its subdirectories, without symbolic links, which a browser on this machine skips, too.
 * @throws PoolwrightError when there are more than 10,000
 */
export async function filesBelow(root: string): Promise<LocalFile[]> {
  const found: LocalFile[] = [];
  const directories = [{ path: root, relativePath: basename(root) }];
  for (let each = directories.pop(); each; each = directories.pop()) {
    for (const entry of await readdir(each.path, { withFileTypes: true })) {
      const { name } = entry;
      // Chromium treats a backslash in a name like this.
      const relativePath = `${each.relativePath}/${name.replaceAll('\\', '/')}`;
      const inside = { path: join(each.path, name), name, relativePath };
      if (entry.isFile()) found.push(inside);
      if (entry.isDirectory()) directories.push(inside);
    }
    if (found.length > MOST_FILES) throw new PoolwrightError('NOT_CARRIED', `it has more than ${MOST_FILES} files`);
  }
  return found;
}

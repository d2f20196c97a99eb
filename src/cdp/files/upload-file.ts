import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { lookup } from 'mrmime';
import { InFlight } from './in-flight.ts';
import type { RemoteObject } from './remote-object.ts';

/** Bytes of a file in one message. */
const PIECE_BYTES = 1024 * 1024;
/** How many messages may wait for their response. */
const PIECES_IN_FLIGHT = 4;

/**
 * Sends a file of this machine to a page, which adds it to the end of a list as a `File`.
 * @throws Error when the file cannot be read, PoolwrightError when the page or the browser is gone
 */
export async function uploadFile(files: RemoteObject, path: string): Promise<void> {
  const pieces = await files.derive('newList');
  const file = await open(path);
  try {
    const inFlight = new InFlight(PIECES_IN_FLIGHT);
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(PIECE_BYTES));
      if (bytesRead === 0) break;
      await inFlight.add(() => pieces.call('addPiece', buffer.toString('base64', 0, bytesRead)));
    }
    await inFlight.done();
    const { mtimeMs } = await file.stat();
    const options = { type: lookup(path) || '', lastModified: Math.floor(mtimeMs) };
    await files.call('addFile', pieces, basename(path), options);
  } finally {
    await file.close();
    pieces.release();
  }
}

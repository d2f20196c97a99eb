import { open } from 'node:fs/promises';
import * as v from 'valibot';
import { errorOf } from '../../errors.ts';
import type { BrowserCommands } from '../transport/interceptor.ts';
import { InFlight } from './in-flight.ts';
import { RemoteObject } from './remote-object.ts';

/** Bytes of a file in one message. */
const PIECE_BYTES = 1024 * 1024;
/** How many messages may wait for their response. */
const PIECES_IN_FLIGHT = 4;

const resolved = v.looseObject({ uuid: v.string() });
const piece = v.looseObject({ data: v.string(), base64Encoded: v.optional(v.boolean()) });

/** The file to read, on the browser's disk. */
export interface RemoteFile {
  path: string;
  /** Its size in bytes, which tells a missing file from an empty one. */
  size: number;
}

/**
 * Copies a file from the browser's disk to this machine's. A page must not read files, but can read one that was set on
 * an input, as when a user picks a file.
 * @param sessionId session of a helper page
 * @throws PoolwrightError when the browser cannot read the file, or the connection is lost
 */
export async function fetchRemoteFile(
  commands: BrowserCommands,
  sessionId: string,
  { path, size }: RemoteFile,
  target: string,
): Promise<void> {
  const input = await RemoteObject.createInput(commands, sessionId);
  try {
    await commands.call('DOM.setFileInputFiles', { objectId: input.objectId, files: [path] }, sessionId);
    const found = await input.call('sizeOf');
    if (found !== size) {
      throw errorOf('SERVICE_BAD_RESPONSE', `the browser has ${found} of the download's ${size} bytes`);
    }
    const blob = await input.derive('bytesOf', size);
    const { uuid } = v.parse(resolved, await commands.call('IO.resolveBlob', { objectId: blob.objectId }, sessionId));
    await copyBlob(commands, sessionId, { handle: `blob:${uuid}`, size }, target);
    blob.release();
  } finally {
    input.release();
  }
}

async function copyBlob(
  commands: BrowserCommands,
  sessionId: string,
  { handle, size }: { handle: string; size: number },
  target: string,
): Promise<void> {
  const file = await open(target, 'w');
  const inFlight = new InFlight(PIECES_IN_FLIGHT);
  try {
    for (let offset = 0; offset < size; offset += PIECE_BYTES) {
      await inFlight.add(async () => {
        const params = { handle, offset, size: Math.min(PIECE_BYTES, size - offset) };
        const { data, base64Encoded } = v.parse(piece, await commands.call('IO.read', params, sessionId));
        await file.write(Buffer.from(data, base64Encoded ? 'base64' : 'utf8'), 0, undefined, offset);
      });
    }
    await inFlight.done();
    const written = (await file.stat()).size;
    if (written !== size) {
      throw errorOf('SERVICE_BAD_RESPONSE', `the browser sent ${written} of the download's ${size} bytes`);
    }
  } finally {
    await inFlight.settled();
    await file.close();
    commands.post('IO.close', { handle }, sessionId);
  }
}

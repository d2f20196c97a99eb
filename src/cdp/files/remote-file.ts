import { open } from 'node:fs/promises';
import * as v from 'valibot';
import { errorOf } from '../../errors.ts';
import type { BrowserCommands } from '../transport/interceptor.ts';
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

/**
 * Starts tasks one after the other and keeps at most `limit` of them unfinished: a distant browser stays busy, and no
 * file is completely in memory.
 */
export class InFlight {
  readonly #limit: number;
  #tasks: Promise<unknown>[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Starts a task as soon as there is room. @throws the error of an earlier task */
  async add(task: () => Promise<unknown>): Promise<void> {
    if (this.#tasks.length >= this.#limit) await this.#tasks.shift();
    const running = task();
    // The caller gets its failure later; until then it must not count as unhandled.
    running.catch(() => undefined);
    this.#tasks.push(running);
  }

  /** Waits for all tasks. @throws the error of the first that failed */
  async done(): Promise<void> {
    await Promise.all(this.#tasks);
  }

  /** Waits for all tasks, including failed ones. Never throws. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#tasks);
  }
}

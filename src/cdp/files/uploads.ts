import { statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { lookup } from 'mrmime';
import * as v from 'valibot';
import type { Interceptor, InterceptorLink } from '../transport/interceptor.ts';
import type { CdpMessage } from '../transport/message.ts';
import { InFlight } from './in-flight.ts';
import { RemoteObject } from './remote-object.ts';

/** Bytes of a file in one message. */
const PIECE_BYTES = 1024 * 1024;
/** How many messages may wait for their answer. */
const PIECES_IN_FLIGHT = 4;

const setFiles = v.looseObject({ objectId: v.string(), files: v.pipe(v.array(v.string()), v.minLength(1)) });

// What runs in the page. Blobs are kept by the browser, not by the page's heap.
const NEW_LIST = 'function () { return []; }';
const ADD_PIECE = `function (base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < bytes.length; index++) bytes[index] = text.charCodeAt(index);
  this.push(new Blob([bytes]));
}`;
const ADD_FILE = `function (pieces, name, options) {
  this.push(new File(pieces, name, options));
}`;
const SET_FILES = `function (files) {
  const transfer = new DataTransfer();
  for (const file of files) transfer.items.add(file);
  this.files = transfer.files;
  this.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  this.dispatchEvent(new Event('change', { bubbles: true }));
}`;

/**
 * Carries files to a browser with another disk. Playwright takes a browser behind a transport for one on this machine
 * and tells it the files' paths; here their contents are sent in place of that. The page gets what it gets when a test
 * gives buffers to `setInputFiles`, without the limit of 50 MB.
 */
export class Uploads implements Interceptor {
  readonly #link: InterceptorLink;

  constructor(link: InterceptorLink) {
    this.#link = link;
  }

  /**
   * Does what `DOM.setFileInputFiles` asks for, and answers it. A path that is not of this machine is the browser's own;
   * a folder is left to the browser too, because a page cannot make files that belong to one.
   */
  onCommand(command: CdpMessage): CdpMessage | null {
    const { id, method, params, sessionId } = command;
    if (method !== 'DOM.setFileInputFiles' || sessionId === undefined) return command;
    const { success, output: data } = v.safeParse(setFiles, params);
    if (!success || !data.files.every(isFileHere)) return command;
    const input = new RemoteObject(this.#link, sessionId, data.objectId);
    void carry(input, data.files).then(
      () => this.#link.deliver({ id, sessionId, result: {} }),
      ({ message }: Error) => {
        this.#link.deliver({ id, sessionId, error: { code: -32_000, message: `Upload: ${message}` } });
      },
    );
    return null;
  }
}

function isFileHere(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

async function carry(input: RemoteObject, paths: string[]): Promise<void> {
  const files = await input.derive(NEW_LIST);
  try {
    for (const path of paths) await carryFile(files, path);
    await input.call(SET_FILES, files);
  } finally {
    files.release();
  }
}

async function carryFile(files: RemoteObject, path: string): Promise<void> {
  const pieces = await files.derive(NEW_LIST);
  const file = await open(path);
  try {
    const inFlight = new InFlight(PIECES_IN_FLIGHT);
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(PIECE_BYTES));
      if (bytesRead === 0) break;
      await inFlight.add(() => pieces.call(ADD_PIECE, buffer.toString('base64', 0, bytesRead)));
    }
    await inFlight.done();
    const { mtimeMs } = await file.stat();
    const options = { type: lookup(path) || '', lastModified: Math.floor(mtimeMs) };
    await files.call(ADD_FILE, pieces, basename(path), options);
  } finally {
    await file.close();
    pieces.release();
  }
}

import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PoolwrightError } from '../../errors.ts';
import type { API } from '../endpoints.ts';
import { prepare } from '../http/api-call.ts';
import { type CallOptions, REQUEST_TIMEOUT } from '../http/client-options.ts';
import type { ServiceCore } from '../http/core.ts';
import type { FormBody } from '../http/form-body.ts';
import { LIMITS } from '../limits.ts';
import type { Extension } from '../schemas/index.ts';

/** The ZIP of an extension: the path of a file, which is streamed from disk, or its bytes. */
export type ExtensionFile = string | URL | Uint8Array;

/** The first bytes of every ZIP with an entry. */
const ZIP_START = 'PK\u0003\u0004';

/** Uploads an extension; a file takes longer than a question. */
export async function sendExtension(
  core: ServiceCore,
  endpoint: typeof API.uploadExtension | typeof API.replaceExtension,
  sent: { id?: string },
  file: ExtensionFile,
  options: CallOptions,
): Promise<Extension> {
  const call = prepare(core, endpoint, sent);
  const form = await extensionForm(file, `${call.method} ${call.path}`);
  const timeoutMs = options.timeout ?? Math.max(core.timeout, REQUEST_TIMEOUT.upload);
  return (await core.request({ ...call, form, timeoutMs }, options)).data.extension;
}

/**
 * The body of an upload, looked at before anything is sent.
 * @throws PoolwrightError `REQUEST_INVALID` if it cannot be read, is not a ZIP, or is too large
 */
async function extensionForm(file: ExtensionFile, request: string): Promise<FormBody> {
  const part = { name: 'extension', type: 'application/zip' };
  if (file instanceof Uint8Array) {
    check(file.byteLength, Buffer.from(file.buffer, file.byteOffset, file.byteLength).toString('latin1', 0, 4));
    return { ...part, filename: 'extension.zip', size: file.byteLength, open: () => [file] };
  }
  if (typeof file !== 'string' && !(file instanceof URL)) refuse('must be the path of a ZIP file, or its bytes');
  const path = typeof file === 'string' ? file : fileURLToPath(file);
  const { size, start } = await look(path).catch((cause: Error) => unreadable(path, cause));
  check(size, start, path);
  return { ...part, filename: basename(path), size, open: () => read(path, size) };

  function check(bytes: number, begins: string, path = 'the bytes'): void {
    if (begins !== ZIP_START) refuse(`${path}: not a ZIP file`);
    const { max } = LIMITS.extensionBytes;
    if (bytes > max) refuse(`${path}: must have at most ${max} bytes, has ${bytes}`);
  }

  function refuse(problem: string): never {
    const message = `${request} was not sent, because it is not valid:\n  - \`file\`: ${problem}`;
    throw new PoolwrightError('REQUEST_INVALID', message);
  }

  function unreadable(path: string, { message }: Error): never {
    refuse(`${path} cannot be read: ${message}`);
  }
}

/** Size in bytes, and the first four of them. */
async function look(path: string): Promise<{ size: number; start: string }> {
  const handle = await open(path);
  try {
    const { size } = await handle.stat();
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4), 0, 4, 0);
    return { size, start: buffer.toString('latin1', 0, bytesRead) };
  } finally {
    await handle.close();
  }
}

async function* read(path: string, size: number): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path, { end: size - 1 });
  } catch (cause) {
    throw new PoolwrightError('REQUEST_INVALID', `${path} could not be read completely while it was being sent.`, {
      cause,
    });
  }
}

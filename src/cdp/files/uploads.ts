import { type Stats, statSync } from 'node:fs';
import * as v from 'valibot';
import type { CdpMessage } from '../message.ts';
import type { Interceptor, InterceptorTransport } from '../transport/interceptor.ts';
import { DirectoryUploads } from './directory-uploads.ts';
import { RemoteObject } from './remote-object.ts';
import { uploadFile } from './upload-file.ts';

const setFiles = v.looseObject({ objectId: v.string(), files: v.pipe(v.array(v.string()), v.minLength(1)) });

/**
 * Uploads files and directories to a browser with another disk. Playwright assumes that a browser behind a transport
 * runs on this machine, and sends it local paths. This interceptor sends the contents of files instead: the page gets
 * the same as when a test passes buffers to `setInputFiles`, without the limit of 50 MB. Directories, which a page
 * cannot create, are copied to the browser's disk, and the browser gets the paths there.
 */
export class Uploads implements Interceptor {
  readonly #transport: InterceptorTransport;
  readonly #directories: DirectoryUploads;
  readonly #onIncompleteUpload: (text: string) => void;

  /**
   * @param onIncompleteUpload called with each part of an upload that does not reach the browser unchanged, as text
   */
  constructor(transport: InterceptorTransport, onIncompleteUpload: (text: string) => void = () => undefined) {
    this.#transport = transport;
    this.#onIncompleteUpload = onIncompleteUpload;
    this.#directories = new DirectoryUploads(transport);
  }

  /**
   * Carries out `DOM.setFileInputFiles` and responds to it. A path that does not exist on this machine is on the
   * browser's disk.
   */
  onCommand(command: CdpMessage): CdpMessage | null {
    const { id, method, params, sessionId } = command;
    if (method !== 'DOM.setFileInputFiles' || sessionId === undefined) return command;
    const { success, output: data } = v.safeParse(setFiles, params);
    if (!success) return command;
    const input = new RemoteObject(this.#transport, sessionId, data.objectId);
    const uploaded = this.#upload(input, data.files);
    if (uploaded === null) return command;
    uploaded.then(
      () => this.#transport.deliver({ id, sessionId, result: {} }),
      ({ message }: Error) => {
        // Playwright retries until its timeout, and never reports the reason.
        this.#onIncompleteUpload(`${data.files.join(', ')} was not uploaded: ${message}.`);
        this.#transport.deliver({ id, sessionId, error: { code: -32_000, message: `Upload: ${message}` } });
      },
    );
    return null;
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    return this.#directories.onMessage(message);
  }

  end(): void {
    this.#directories.end();
  }

  /** Null for paths that do not exist on this machine. */
  #upload(input: RemoteObject, paths: string[]): Promise<void> | null {
    const [path = '', ...others] = paths;
    if (paths.every((each) => kindOf(each)?.isFile())) return uploadFiles(input, paths);
    // On Windows it is unknown whether the browser's disk has the same kind of paths.
    const isDirectory = others.length === 0 && process.platform !== 'win32' && kindOf(path)?.isDirectory();
    return isDirectory ? this.#copyDirectory(input, path) : null;
  }

  async #copyDirectory(input: RemoteObject, path: string): Promise<void> {
    const there = await this.#directories.copy(path);
    if (there === null) return await uploadFiles(input, []);
    if (there.renamed.length > 0) this.#onIncompleteUpload(renamedText(path, there.renamed));
    const { objectId, sessionId } = input;
    await this.#transport.call('DOM.setFileInputFiles', { objectId, files: [there.path] }, sessionId);
  }
}

function kindOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

async function uploadFiles(input: RemoteObject, paths: string[]): Promise<void> {
  const files = await input.derive('newList');
  try {
    for (const path of paths) await uploadFile(files, path);
    await input.call('choose', files);
  } finally {
    files.release();
  }
}

function renamedText(path: string, names: string[]): string {
  const more = names.length > 3 ? ` and ${names.length - 3} more` : '';
  return `${path} was uploaded with other names for ${names.slice(0, 3).join(', ')}${more}: the files are copied to the hosted browser's disk, and Chromium changes such names there.`;
}

import { type Stats, statSync } from 'node:fs';
import { basename } from 'node:path';
import * as v from 'valibot';
import type { CdpMessage } from '../message.ts';
import type { Interceptor, InterceptorTransport } from '../transport/interceptor.ts';
import { RemoteObject } from './remote-object.ts';
import { filesBelow, type LocalFile, sendFiles } from './upload-files.ts';

const setFiles = v.looseObject({ objectId: v.string(), files: v.pipe(v.array(v.string()), v.minLength(1)) });

const described = v.looseObject({ node: v.looseObject({ backendNodeId: v.number() }) });
const resolved = v.looseObject({ object: v.looseObject({ objectId: v.string() }) });

/** How many paths a message lists. */
const LISTED = 3;

/**
 * Uploads files and directories to a browser with another disk. Playwright assumes that a browser behind a transport
 * runs on this machine, and sends it local paths. This interceptor sends the contents instead: the page gets the same
 * as when a test passes buffers to `setInputFiles`, without the limit of 50 MB.
 */
export class Uploads implements Interceptor {
  readonly #transport: InterceptorTransport;
  readonly #onIncompleteUpload: (text: string) => void;

  /** @param onIncompleteUpload called with the reason and the paths of each upload that fails, as text */
  constructor(transport: InterceptorTransport, onIncompleteUpload: (text: string) => void = () => undefined) {
    this.#transport = transport;
    this.#onIncompleteUpload = onIncompleteUpload;
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
        this.#onIncompleteUpload(`Upload failed: ${message}. Not uploaded: ${listed(data.files)}.`);
        this.#transport.deliver({ id, sessionId, error: { code: -32_000, message: `Upload: ${message}` } });
      },
    );
    return null;
  }

  /** Null for paths that do not exist on this machine. */
  #upload(input: RemoteObject, paths: string[]): Promise<void> | null {
    const [path = '', ...others] = paths;
    if (paths.every((each) => kindOf(each)?.isFile())) return this.#uploadFiles(input, paths);
    return others.length === 0 && kindOf(path)?.isDirectory() ? this.#uploadDirectory(input, path) : null;
  }

  async #uploadFiles(input: RemoteObject, paths: string[]): Promise<void> {
    await this.#choose(
      input,
      paths.map((path) => ({ path, name: basename(path) })),
    );
    await input.call('report');
  }

  async #uploadDirectory(input: RemoteObject, path: string): Promise<void> {
    const files = await filesBelow(path);
    await this.#choose(input, files);
    // The page's own scripts see only what is set in their world.
    const { objectId, sessionId } = input;
    const { node } = v.parse(described, await this.#transport.call('DOM.describeNode', { objectId }, sessionId));
    const { backendNodeId } = node;
    const { object } = v.parse(resolved, await this.#transport.call('DOM.resolveNode', { backendNodeId }, sessionId));
    const inPage = new RemoteObject(this.#transport, sessionId, object.objectId);
    try {
      const names = files.map(({ name }) => name);
      await inPage.call('nameFiles', names);
    } finally {
      inPage.release();
    }
    await input.call('report');
  }

  /** Sets files of this machine on an input. */
  async #choose(input: RemoteObject, files: LocalFile[]): Promise<void> {
    const pieces = await input.derive('newList');
    try {
      const times = await sendFiles(pieces, files);
      const types = await this.#typesOf(input, files);
      const details = files.map(({ name, relativePath = name }, at) => ({
        name: relativePath,
        type: types[at],
        lastModified: times[at],
      }));
      await input.call('choose', pieces, details);
    } finally {
      pieces.release();
    }
  }

  /** The types that the browser gives files with such names. It needs no file for that. */
  async #typesOf(input: RemoteObject, files: LocalFile[]): Promise<string[]> {
    const extensions = files.map(({ name }) => /\.[^.]*$/.exec(name)?.[0] ?? '');
    const different = [...new Set(extensions)];
    if (different.length === 0) return [];
    const probe = await input.derive('newInput');
    try {
      const paths = different.map((extension) => `/poolwright-no-file${extension}`);
      const { objectId, sessionId } = probe;
      await this.#transport.call('DOM.setFileInputFiles', { objectId, files: paths }, sessionId);
      const types = v.parse(v.array(v.string()), await probe.call('types'));
      return extensions.map((extension) => types[different.indexOf(extension)] ?? '');
    } finally {
      probe.release();
    }
  }
}

function kindOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function listed(paths: string[]): string {
  const more = paths.length > LISTED ? ` and ${paths.length - LISTED} more` : '';
  return `${paths.slice(0, LISTED).join(', ')}${more}`;
}

import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { basename, join, posix } from 'node:path';
import type { Protocol } from 'devtools-protocol';
import pTimeout from 'p-timeout';
import * as v from 'valibot';
import { clearTimeout, setTimeout } from '../../common/clock.ts';
import { errorOf, PoolwrightError } from '../../errors.ts';
import { type CdpMessage, fieldsOf } from '../message.ts';
import type { InterceptorTransport } from '../transport/interceptor.ts';
import { HelperPage } from './helper-page.ts';
import { RemoteObject } from './remote-object.ts';
import { removeLocalFiles } from './remove-local-files.ts';
import { uploadFile } from './upload-file.ts';

/** Chromium's limit on downloads of one frame in a second. */
const DOWNLOADS_A_FRAME = 10;
/** A test does not upload a directory with more files than this on purpose. */
const MOST_FILES = 10_000;
/** Time limit for writing these files from the browser's memory to its disk, in ms. */
const WRITE_TIMEOUT_MS = 60_000;

/** A directory of this machine. */
interface Directory {
  path: string;
  /** Names of the files in it, without those in subdirectories. */
  files: string[];
}

/** A copied directory. */
interface CopiedDirectory {
  /** On the browser's disk. */
  path: string;
  /** Original names of the files that Chromium has renamed. */
  renamed: string[];
}

/**
 * Copies directories to the browser's disk: a hidden page downloads the files, and Chromium writes them to the given
 * directory. It changes some names, as with every download: for example those that begin or end with a dot.
 */
export class DirectoryUploads {
  readonly #transport: InterceptorTransport;
  readonly #page: HelperPage;
  /** The directory for copies, which the browser creates. */
  readonly #root = `/tmp/poolwright-${randomUUID()}`;
  /** Handlers of our downloads' final state: by address, then by the browser's ID. */
  readonly #downloads = new Map<unknown, (state: string) => void>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(transport: InterceptorTransport) {
    this.#transport = transport;
    this.#page = new HelperPage(transport);
  }

  /** Returns null for a message about our downloads. */
  onMessage(message: CdpMessage): CdpMessage | null {
    if (message.sessionId !== undefined) return message;
    if (message.method === 'Browser.downloadWillBegin') {
      const { guid, url } = fieldsOf<Protocol.Browser.DownloadWillBeginEvent>(message.params);
      const ended = this.#downloads.get(url);
      if (!ended) return message;
      this.#downloads.delete(url);
      this.#downloads.set(guid, ended);
      return null;
    }
    if (message.method !== 'Browser.downloadProgress') return message;
    const { guid, state } = fieldsOf<Protocol.Browser.DownloadProgressEvent>(message.params);
    const ended = this.#downloads.get(guid);
    if (!ended || state === 'inProgress') return ended ? null : message;
    this.#downloads.delete(guid);
    ended(String(state));
    return null;
  }

  /**
   * Copies a directory and its subdirectories, without symbolic links, which a browser on this machine would skip, too.
   * @returns null for a directory without files, which the browser cannot create
   * @throws Error when a file cannot be read, PoolwrightError when there are more than 10,000, or Chromium does not
   * write them or is gone
   */
  copy(path: string): Promise<CopiedDirectory | null> {
    // One at a time: the download directory applies to the whole page.
    const copied = this.#last.then(() => this.#copy(path));
    this.#last = copied.catch(() => undefined);
    return copied;
  }

  end(): void {
    for (const ended of this.#downloads.values()) ended('the transport is down');
    removeLocalFiles(this.#root);
  }

  async #copy(path: string): Promise<CopiedDirectory | null> {
    const directories = await directoriesBelow(path);
    if (directories.length === 0) return null;
    const { sessionId: session, browserContextId } = await this.#page.open();
    const copy = posix.join(this.#root, randomUUID());
    const wanted: string[] = [];
    for (const directory of directories) {
      const inside = posix.join(basename(path), directory.path);
      for (const name of directory.files) wanted.push(posix.join(inside, name));
      await this.#transport.call('Browser.setDownloadBehavior', {
        behavior: 'allow',
        downloadPath: posix.join(copy, inside),
        eventsEnabled: true,
        browserContextId,
      });
      for (let first = 0; first < directory.files.length; first += DOWNLOADS_A_FRAME) {
        const names = directory.files.slice(first, first + DOWNLOADS_A_FRAME);
        await this.#write(
          session,
          names.map((name) => join(path, directory.path, name)),
        );
      }
    }
    const remote = posix.join(copy, basename(path));
    const there = new Set(await this.#listed(session, remote));
    return { path: remote, renamed: wanted.filter((name) => !there.has(name)) };
  }

  /** Makes the browser write files of this machine to its disk, and waits until it has. */
  async #write(session: string, paths: string[]): Promise<void> {
    const files = await RemoteObject.create(this.#transport, session, 'newList', {});
    try {
      for (const path of paths) await uploadFile(files, path);
      const urls = v.parse(v.array(v.string()), await files.call('urls'));
      const written = this.#written(urls);
      written.catch(() => undefined); // the `await` below reports its failure
      await files.call('download', urls);
      await written;
      await files.call('letGo', urls);
    } finally {
      files.release();
    }
  }

  /** Resolves when the browser has written all of them. @throws PoolwrightError when it does not */
  async #written(urls: string[]): Promise<void> {
    const ends = urls.map(async (url) => {
      const state = await new Promise<string>((resolve) => this.#downloads.set(url, resolve));
      if (state !== 'completed') throw notWritten(state);
    });
    try {
      await pTimeout(Promise.all(ends), {
        milliseconds: WRITE_TIMEOUT_MS,
        customTimers: { setTimeout, clearTimeout },
        message: notWritten('not done in time'),
      });
    } finally {
      for (const url of urls) this.#downloads.delete(url);
    }
  }

  /**
   * Names of the files in a directory on the browser's disk, as an input lists them: including the directory's name.
   */
  async #listed(session: string, directory: string): Promise<string[]> {
    const input = await RemoteObject.create(this.#transport, session, 'newInput', { webkitdirectory: true });
    try {
      await this.#transport.call('DOM.setFileInputFiles', { objectId: input.objectId, files: [directory] }, session);
      return v.parse(v.array(v.string()), await input.call('chosen'));
    } finally {
      input.release();
    }
  }
}

function notWritten(state: string): PoolwrightError {
  return errorOf('SERVICE_BAD_RESPONSE', `the browser did not write a file to its disk: ${state}`);
}

/** A directory and its subdirectories, without empty ones. @throws PoolwrightError when there are too many files */
async function directoriesBelow(root: string): Promise<Directory[]> {
  const found: Directory[] = [];
  const paths = [''];
  let count = 0;
  for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
    const entries = await readdir(join(root, path), { withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    count += files.length;
    if (count > MOST_FILES) throw new PoolwrightError('NOT_CARRIED', `it has more than ${MOST_FILES} files`);
    if (files.length > 0) found.push({ path, files });
    for (const entry of entries) if (entry.isDirectory()) paths.push(join(path, entry.name));
  }
  return found;
}

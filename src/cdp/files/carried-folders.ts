import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { basename, join, posix } from 'node:path';
import type { Protocol } from 'devtools-protocol';
import * as v from 'valibot';
import { pause } from '../../common/pause.ts';
import { errorOf, PoolwrightError } from '../../errors.ts';
import type { BrowserCommands } from '../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../transport/message.ts';
import { carryFile } from './carried-file.ts';
import { OwnPage } from './own-page.ts';
import { RemoteObject } from './remote-object.ts';
import { removeHere } from './remove-here.ts';

/** Chromium gives a frame no more downloads than this in a second. */
const DOWNLOADS_A_FRAME = 10;
/** A folder of more files is not one that a test means. */
const MOST_FILES = 10_000;
/** Bound on writing so many files from the browser's memory to its disk, in ms. */
const WRITE_TIMEOUT_MS = 60_000;

/** A folder of this machine. */
interface Folder {
  path: string;
  /** Names of the files in it, not of those below. */
  files: string[];
}

/** A folder that was copied. */
interface CarriedFolder {
  /** On the browser's disk. */
  path: string;
  /** Files that Chromium has given another name, by the names that they were to have. */
  renamed: string[];
}

/**
 * Copies folders to the browser's disk: a page of our own downloads the files, which Chromium writes to where it is told to.
 * It changes some names, as it does with every download: those that begin or end with a dot, for one.
 */
export class CarriedFolders {
  readonly #commands: BrowserCommands;
  readonly #page: OwnPage;
  /** Where they are put; the browser makes it. */
  readonly #root = `/tmp/poolwright-${randomUUID()}`;
  /** Our downloads: what becomes of those on their way, by address; and their addresses, by the browser's IDs. */
  readonly #downloads = new Map<string, (state: string) => void>();
  readonly #urls = new Map<unknown, string>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(commands: BrowserCommands) {
    this.#commands = commands;
    this.#page = new OwnPage(commands);
  }

  /** Returns null for a message about our page or our downloads, which are nobody else's business. */
  onMessage(message: CdpMessage): CdpMessage | null {
    if (this.#page.onMessage(message) === null) return null;
    if (message.sessionId !== undefined) return message;
    if (message.method === 'Browser.downloadWillBegin') {
      const { guid, url } = fieldsOf<Protocol.Browser.DownloadWillBeginEvent>(message.params);
      if (typeof url !== 'string' || !this.#downloads.has(url)) return message;
      this.#urls.set(guid, url);
      return null;
    }
    if (message.method !== 'Browser.downloadProgress') return message;
    const { guid, state } = fieldsOf<Protocol.Browser.DownloadProgressEvent>(message.params);
    const url = this.#urls.get(guid);
    if (url === undefined) return message;
    if (state !== 'inProgress') this.#downloads.get(url)?.(String(state));
    return null;
  }

  /**
   * Copies what is in a folder and below, without symbolic links, as a browser on this machine would leave them out.
   * @returns null for a folder without files, which the browser has no way to make
   * @throws Error when a file cannot be read, PoolwrightError when there are more than 10,000, Chromium does not write them,
   * or has gone
   */
  carry(path: string): Promise<CarriedFolder | null> {
    // One after the other: where downloads go is said for the whole page.
    const carried = this.#last.then(() => this.#carry(path));
    this.#last = carried.catch(() => undefined);
    return carried;
  }

  end(): void {
    for (const ended of this.#downloads.values()) ended('the link is down');
    removeHere(this.#root);
  }

  async #carry(path: string): Promise<CarriedFolder | null> {
    const folders = await foldersBelow(path);
    if (folders.length === 0) return null;
    const { sessionId: session, browserContextId } = await this.#page.open();
    const place = posix.join(this.#root, randomUUID());
    const wanted: string[] = [];
    for (const folder of folders) {
      const inside = posix.join(basename(path), folder.path);
      for (const name of folder.files) wanted.push(posix.join(inside, name));
      await this.#commands.call('Browser.setDownloadBehavior', {
        behavior: 'allow',
        downloadPath: posix.join(place, inside),
        eventsEnabled: true,
        browserContextId,
      });
      for (let first = 0; first < folder.files.length; first += DOWNLOADS_A_FRAME) {
        const names = folder.files.slice(first, first + DOWNLOADS_A_FRAME);
        await this.#write(
          session,
          names.map((name) => join(path, folder.path, name)),
        );
      }
    }
    const remote = posix.join(place, basename(path));
    const there = new Set(await this.#listed(session, remote));
    return { path: remote, renamed: wanted.filter((name) => !there.has(name)) };
  }

  /** Has the browser write files of this machine to its disk, and waits until it has. */
  async #write(session: string, paths: string[]): Promise<void> {
    const files = await RemoteObject.create(this.#commands, session, 'newList', {});
    try {
      for (const path of paths) await carryFile(files, path);
      const urls = v.parse(v.array(v.string()), await files.call('urls'));
      const written = this.#written(urls);
      written.catch(() => undefined); // whoever waits for it sees its failure
      await files.call('download', urls);
      await written;
      await files.call('letGo', urls);
    } finally {
      files.release();
    }
  }

  /** Resolves when the browser has written all of them. @throws PoolwrightError when it does not */
  async #written(urls: string[]): Promise<void> {
    const waiting = new AbortController();
    const late = pause(WRITE_TIMEOUT_MS, waiting.signal).then(() => 'not done in time');
    late.catch(() => undefined);
    try {
      const ends = urls.map((url) => new Promise<string>((resolve) => this.#downloads.set(url, resolve)));
      for (const end of ends) {
        const state = await Promise.race([end, late]);
        if (state !== 'completed')
          throw errorOf('SERVICE_BAD_RESPONSE', `the browser was to write a file to its disk: ${state}`);
      }
    } finally {
      waiting.abort();
      for (const url of urls) this.#downloads.delete(url);
    }
  }

  /** Names of the files in a folder of the browser's disk, as an input lists them: with the folder's own. */
  async #listed(session: string, folder: string): Promise<string[]> {
    const input = await RemoteObject.create(this.#commands, session, 'newInput', { webkitdirectory: true });
    try {
      await this.#commands.call('DOM.setFileInputFiles', { objectId: input.objectId, files: [folder] }, session);
      return v.parse(v.array(v.string()), await input.call('chosen'));
    } finally {
      input.release();
    }
  }
}

/** A folder and those below it, without those that hold no files. @throws PoolwrightError when there are too many files */
async function foldersBelow(root: string): Promise<Folder[]> {
  const found: Folder[] = [];
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

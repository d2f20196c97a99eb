import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { basename, join, parse, posix } from 'node:path';
import type { Protocol } from 'devtools-protocol';
import type { Interceptor, InterceptorLink } from '../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../transport/message.ts';
import type { CarriedDownloads } from './carried-downloads.ts';
import { OwnPage } from './own-page.ts';
import { fetchRemoteFile } from './remote-file.ts';
import { removeHere } from './remove-here.ts';

/** What a client has asked for: where files go on this machine, and whether it is told of them. */
interface Wanted {
  folder: string;
  /** The name that the browser knows the download by, not the one that the site gives it. */
  byGuid: boolean;
  told: boolean;
}

/** A download on its way. */
interface Download extends Wanted {
  /** As the site names it. */
  name: string;
}

/** Of a file that is not whole yet: what Chromium appends, and what tests leave out when they look for theirs. */
const UNFINISHED = '.crdownload';
/** The browser names the file, and it is written here: nothing that leads out of the folder. */
const GUID = /^[\w-]+$/;

/**
 * Brings downloads from the browser's disk to this machine's, for a client that names a folder and waits for a file to
 * appear in it (`Browser.setDownloadBehavior`, or `Page.setDownloadBehavior` of older scripts). The browser is told a
 * folder of its own; the file comes over the link, and appears here under its name once it is whole.
 */
export class NamedDownloads implements Interceptor {
  readonly #link: InterceptorLink;
  readonly #page: OwnPage;
  readonly #carried: CarriedDownloads;
  /** Where the browser puts files. It makes the folder. */
  readonly #remoteFolder = `/tmp/poolwright-${randomUUID()}`;
  /** By browser context; the browser's own is `undefined`. */
  readonly #wanted = new Map<string | undefined, Wanted>();
  readonly #downloads = new Map<string, Download>();
  /** The last one asked for: a frame within a page says not which context it is in. */
  #last: Wanted | undefined;

  /** @param carried those whose bodies are on this machine already */
  constructor(link: InterceptorLink, carried: CarriedDownloads) {
    this.#link = link;
    this.#carried = carried;
    this.#page = new OwnPage(link);
  }

  onCommand(command: CdpMessage): CdpMessage | null {
    const { method, sessionId } = command;
    // On Windows nobody knows whether the browser's disk has the same kind of paths.
    if (process.platform === 'win32') return command;
    if (method === 'Browser.setDownloadBehavior') return this.#setForContext(command);
    if (method !== 'Page.setDownloadBehavior' || sessionId === undefined) return command;
    const { behavior, downloadPath } = fieldsOf<Protocol.Page.SetDownloadBehaviorRequest>(command.params);
    if (behavior !== 'allow' || typeof downloadPath !== 'string') return command;
    // Of a page it can only be said where files go, not that they go by their IDs: it is said of its context.
    const context = this.#link.model.session(sessionId)?.target.contextId;
    const { params } = this.#redirect(context, { folder: downloadPath, byGuid: false, told: false });
    this.#link.call('Browser.setDownloadBehavior', params).then(
      () => this.#link.deliver({ id: command.id, sessionId, result: {} }),
      ({ message }: Error) => {
        this.#link.deliver({ id: command.id, sessionId, error: { code: -32_000, message } });
      },
    );
    return null;
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    if (this.#page.onMessage(message) === null) return null;
    switch (message.method) {
      case 'Browser.downloadWillBegin':
        return this.#begin(message);
      case 'Browser.downloadProgress':
        return this.#progress(message);
      default:
        return message;
    }
  }

  end(): void {
    this.#carried.end();
    removeHere(this.#remoteFolder);
  }

  #setForContext(command: CdpMessage): CdpMessage {
    const params = fieldsOf<Protocol.Browser.SetDownloadBehaviorRequest>(command.params);
    const { behavior, downloadPath, browserContextId, eventsEnabled } = params;
    const context = typeof browserContextId === 'string' ? browserContextId : undefined;
    if ((behavior !== 'allow' && behavior !== 'allowAndName') || typeof downloadPath !== 'string') {
      this.#wanted.delete(context);
      return command;
    }
    const wanted = { folder: downloadPath, byGuid: behavior === 'allowAndName', told: eventsEnabled === true };
    return { ...command, ...this.#redirect(context, wanted) };
  }

  #redirect(context: string | undefined, wanted: Wanted): { params: Protocol.Browser.SetDownloadBehaviorRequest } {
    this.#wanted.set(context, wanted);
    this.#last = wanted;
    this.#carried.areTaken = true;
    return {
      params: {
        behavior: 'allowAndName',
        downloadPath: this.#remoteFolder,
        eventsEnabled: true,
        ...(context !== undefined && { browserContextId: context }),
      },
    };
  }

  #begin(message: CdpMessage): CdpMessage | null {
    const params = fieldsOf<Protocol.Browser.DownloadWillBeginEvent>(message.params);
    const { guid, frameId, suggestedFilename } = params;
    // A page has the ID of its main frame.
    const context = this.#link.model.target(frameId)?.contextId;
    const wanted = this.#wanted.get(context) ?? this.#wanted.get(undefined) ?? this.#last;
    if (!wanted || typeof guid !== 'string' || !GUID.test(guid)) return message;
    const name = fileName(suggestedFilename) ?? guid;
    this.#downloads.set(guid, { ...wanted, name });
    this.#carried.begin(params);
    return wanted.told ? message : null;
  }

  #progress(message: CdpMessage): CdpMessage | null {
    const params = fieldsOf<Protocol.Browser.DownloadProgressEvent>(message.params);
    const { guid, state, receivedBytes } = params;
    const download = typeof guid === 'string' ? this.#downloads.get(guid) : undefined;
    if (!download || typeof guid !== 'string') return message;
    if (state === 'inProgress') return download.told ? message : null;
    this.#downloads.delete(guid);
    const tell = (told: object) => {
      if (download.told) this.#link.deliver({ ...message, params: { ...params, ...told } });
    };
    if (state !== 'completed' || typeof receivedBytes !== 'number') {
      this.#carried.drop(guid);
      tell({});
      return null;
    }
    this.#fetch(guid, receivedBytes, download).then(
      ({ filePath, size }) =>
        tell({ totalBytes: size, receivedBytes: size, ...(params.filePath !== undefined && { filePath }) }),
      // The only other end that a client knows.
      () => tell({ state: 'canceled' }),
    );
    return null;
  }

  /** Returns where the file is now, and its size in bytes. */
  async #fetch(guid: string, told: number, { folder, name, byGuid }: Download) {
    const remote = { path: posix.join(this.#remoteFolder, guid), size: told };
    await mkdir(folder, { recursive: true });
    const unfinished = join(folder, `${guid}${UNFINISHED}`);
    try {
      let size = told;
      if (this.#carried.has(guid)) size = await this.#carried.write(guid, unfinished);
      else await fetchRemoteFile(this.#link, (await this.#page.open()).sessionId, remote, unfinished);
      const filePath = byGuid ? join(folder, guid) : freeName(folder, name);
      await rename(unfinished, filePath);
      return { filePath, size };
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    } finally {
      removeHere(remote.path);
    }
  }
}

/** A site's name for a file, as one that leads out of no folder; null where nothing is left of it. */
function fileName(suggested: unknown): string | null {
  if (typeof suggested !== 'string') return null;
  const name = basename(suggested.replaceAll('\\', '/')).replaceAll('\0', '');
  return name === '' || name === '.' || name === '..' ? null : name;
}

/** As Chromium does: `report.pdf`, then `report (1).pdf`. */
function freeName(folder: string, name: string): string {
  const { name: stem, ext } = parse(name);
  for (let count = 0; ; count += 1) {
    const candidate = join(folder, count === 0 ? name : `${stem} (${count})${ext}`);
    if (!existsSync(candidate)) return candidate;
  }
}

import { randomUUID } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { basename, join, parse, posix } from 'node:path';
import type { Protocol } from 'devtools-protocol';
import * as v from 'valibot';
import { type CdpMessage, fieldsOf } from '../message.ts';
import type { Interceptor, InterceptorTransport } from '../transport/interceptor.ts';
import { type DownloadBody, type ProxiedDownloads, writeBody } from './proxied-downloads.ts';
import { fetchRemoteFile } from './remote-file.ts';

/** What a client has configured: the directory on this machine, and whether it gets download events. */
interface Wanted {
  directory: string;
  /** The file name is the browser's ID of the download, not the name that the site suggests. */
  byGuid: boolean;
  withEvents: boolean;
}

/** A download in progress. */
interface Download extends Wanted {
  /** The name that the site suggests. */
  name: string;
  /** Its content, if that is on this machine. */
  body: DownloadBody | undefined;
  isCancelled: boolean;
}

/** Response to `Target.getBrowserContexts`. */
const contexts = v.looseObject({ browserContextIds: v.array(v.string()) });

/** The suffix that Chromium gives to incomplete files. Tests skip it when they look for theirs. */
const UNFINISHED = '.crdownload';
/** The browser chooses the file name, so it is checked: it must not lead out of the directory. */
const GUID = /^[\w-]+$/;

/**
 * Brings downloads from the browser's disk to this machine's, for a client that sets a directory of this machine
 * (`Browser.setDownloadBehavior`, or `Page.setDownloadBehavior` in older scripts) and looks for the file there. The
 * browser gets another directory; the file comes over the connection, and appears here under its name once it is
 * complete. Until then, the browser's event that the download is complete is held back.
 */
export class Downloads implements Interceptor {
  readonly #transport: InterceptorTransport;
  readonly #page: HelperPage;
  readonly #local: ProxiedDownloads;
  /** The browser's download directory, which it creates. */
  readonly #remoteDirectory = `/tmp/poolwright-${randomUUID()}`;
  /** By browser context; `undefined` is the default context. */
  readonly #wanted = new Map<string | undefined, Wanted>();
  /** By the browser's ID, until the file is here. */
  readonly #downloads = new Map<unknown, Download>();
  /** The most recent setting: events of a frame within a page do not show its context. */
  #last: Wanted | undefined;

  /** @param local downloads whose bodies are already on this machine */
  constructor(transport: InterceptorTransport, local: ProxiedDownloads) {
    this.#transport = transport;
    this.#local = local;
    this.#page = new HelperPage(transport);
  }

  onCommand(command: CdpMessage): CdpMessage | null {
    const { method, sessionId } = command;
    // On Windows it is unknown whether the browser's disk has the same kind of paths.
    if (process.platform === 'win32') return command;
    if (method === 'Browser.setDownloadBehavior') return this.#setForContext(command);
    if (method === 'Browser.cancelDownload') return this.#cancel(command);
    if (method === 'Target.disposeBrowserContext') {
      const { browserContextId } = fieldsOf<Protocol.Target.DisposeBrowserContextRequest>(command.params);
      this.#wanted.delete(String(browserContextId));
    }
    if (method !== 'Page.setDownloadBehavior' || sessionId === undefined) return command;
    const { behavior, downloadPath } = fieldsOf<Protocol.Page.SetDownloadBehaviorRequest>(command.params);
    if (behavior !== 'allow' || typeof downloadPath !== 'string') return command;
    this.#setForPage(sessionId, downloadPath).then(
      () => this.#transport.deliver({ id: command.id, sessionId, result: {} }),
      ({ message }: Error) => {
        this.#transport.deliver({ id: command.id, sessionId, error: { code: -32_000, message } });
      },
    );
    return null;
  }

  onMessage(message: CdpMessage): CdpMessage | null {
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
    this.#local.end();
    for (const { body } of this.#downloads.values()) body?.cancel();
    removeLocalFiles(this.#remoteDirectory);
  }

  /** CDP can set a page's download directory, but not name its files by ID: so its context is configured instead. */
  async #setForPage(sessionId: string, directory: string): Promise<void> {
    const context = this.#transport.model.session(sessionId)?.target.contextId;
    const wanted = { directory, byGuid: false, withEvents: this.#wanted.get(context)?.withEvents ?? false };
    const set = (id: string | undefined) =>
      this.#transport.call('Browser.setDownloadBehavior', this.#redirect(id, wanted).params);
    try {
      await set(context);
    } catch (error) {
      this.#wanted.delete(context);
      // Chromium lists all contexts except the default one, which some of its versions do not know by its ID.
      const { browserContextIds } = v.parse(contexts, await this.#transport.call('Target.getBrowserContexts'));
      const isOpen = this.#transport.model.session(sessionId) !== undefined;
      if (!isOpen || context === undefined || browserContextIds.includes(context)) throw error;
      await set(undefined);
    }
  }

  #setForContext(command: CdpMessage): CdpMessage {
    const params = fieldsOf<Protocol.Browser.SetDownloadBehaviorRequest>(command.params);
    const { behavior, downloadPath, browserContextId, eventsEnabled } = params;
    const context = typeof browserContextId === 'string' ? browserContextId : undefined;
    if ((behavior !== 'allow' && behavior !== 'allowAndName') || typeof downloadPath !== 'string') {
      this.#wanted.delete(context);
      return command;
    }
    const wanted = { directory: downloadPath, byGuid: behavior === 'allowAndName', withEvents: eventsEnabled === true };
    return { ...command, ...this.#redirect(context, wanted) };
  }

  #redirect(context: string | undefined, wanted: Wanted): { params: Protocol.Browser.SetDownloadBehaviorRequest } {
    this.#wanted.set(context, wanted);
    this.#last = wanted;
    this.#local.areTaken = true;
    return {
      params: {
        behavior: 'allowAndName',
        downloadPath: this.#remoteDirectory,
        eventsEnabled: true,
        ...(context !== undefined && { browserContextId: context }),
      },
    };
  }

  /** The browser has finished a download whose body is on this machine, and would report an unknown download. */
  #cancel(command: CdpMessage): CdpMessage | null {
    const { guid } = fieldsOf<Protocol.Browser.CancelDownloadRequest>(command.params);
    const download = this.#downloads.get(guid);
    if (!download?.body) return command;
    download.isCancelled = true;
    download.body.cancel();
    this.#transport.deliver({ id: command.id, sessionId: command.sessionId, result: {} });
    return null;
  }

  #begin(message: CdpMessage): CdpMessage | null {
    const params = fieldsOf<Protocol.Browser.DownloadWillBeginEvent>(message.params);
    const { guid, frameId, suggestedFilename } = params;
    // A page has the ID of its main frame.
    const context = this.#transport.model.target(frameId)?.contextId;
    const wanted = this.#wanted.get(context) ?? this.#wanted.get(undefined) ?? this.#last;
    if (!wanted || typeof guid !== 'string' || !GUID.test(guid)) return message;
    const name = fileName(suggestedFilename) ?? guid;
    this.#downloads.set(guid, { ...wanted, name, body: this.#local.take(params), isCancelled: false });
    return wanted.withEvents ? message : null;
  }

  #progress(message: CdpMessage): CdpMessage | null {
    const params = fieldsOf<Protocol.Browser.DownloadProgressEvent>(message.params);
    const { guid, state, receivedBytes } = params;
    const download = this.#downloads.get(guid);
    if (!download || typeof guid !== 'string') return message;
    if (state === 'inProgress') return download.withEvents ? message : null;
    const notify = (changes: object) => {
      if (download.withEvents) this.#transport.deliver({ ...message, params: { ...params, ...changes } });
    };
    if (state !== 'completed' || typeof receivedBytes !== 'number') {
      this.#downloads.delete(guid);
      download.body?.cancel();
      notify({});
      return null;
    }
    this.#fetch(guid, receivedBytes, download).then(
      ({ filePath, size }) =>
        notify({ totalBytes: size, receivedBytes: size, ...(params.filePath !== undefined && { filePath }) }),
      // The only other final state that a client knows.
      () => notify({ state: 'canceled' }),
    );
    return null;
  }

  /** Returns where the file is now, and its size in bytes. */
  async #fetch(guid: string, reportedSize: number, download: Download) {
    const { directory, name, byGuid, body } = download;
    const remote = { path: posix.join(this.#remoteDirectory, guid), size: reportedSize };
    await mkdir(directory, { recursive: true });
    const unfinished = join(directory, `${guid}${UNFINISHED}`);
    try {
      let size = reportedSize;
      if (body) size = await writeBody(body, unfinished);
      else await fetchRemoteFile(this.#transport, await this.#page.open(), remote, unfinished);
      // The body of a cancelled download may look complete.
      if (download.isCancelled) throw new Error('cancelled');
      const filePath = byGuid ? join(directory, guid) : freeName(directory, name);
      await rename(unfinished, filePath);
      return { filePath, size };
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    } finally {
      this.#downloads.delete(guid);
      removeLocalFiles(remote.path);
    }
  }
}

/** A site's file name, made safe so that it cannot lead out of the directory; null if nothing is left of it. */
function fileName(suggested: unknown): string | null {
  if (typeof suggested !== 'string') return null;
  const name = basename(suggested.replaceAll('\\', '/')).replaceAll('\0', '');
  return name === '' || name === '.' || name === '..' ? null : name;
}

/** Chromium's scheme: `report.pdf`, then `report (1).pdf`. */
function freeName(directory: string, name: string): string {
  const { name: stem, ext } = parse(name);
  for (let count = 0; ; count += 1) {
    const candidate = join(directory, count === 0 ? name : `${stem} (${count})${ext}`);
    if (!existsSync(candidate)) return candidate;
  }
}

/** Removes the files that a browser on this machine (an emulated one) has left on this disk. */
function removeLocalFiles(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // They belong to another user's browser, and are not ours to remove.
  }
}

const createdContext = v.looseObject({ browserContextId: v.string() });
const createdTarget = v.looseObject({ targetId: v.string() });
const attached = v.looseObject({ sessionId: v.string() });

/** An empty page for our own use, in a separate context, which ends with the connection. The client does not see it. */
class HelperPage {
  readonly #transport: InterceptorTransport;
  #opened: Promise<string> | undefined;
  /** Once it is open. */
  #sessionId: string | undefined;

  constructor(transport: InterceptorTransport) {
    this.#transport = transport;
  }

  /**
   * Opens the page on the first call, and another one if that has crashed or ended. Returns the ID of a session on it.
   * @throws PoolwrightError
   */
  open(): Promise<string> {
    const isGone = this.#transport.model.session(this.#sessionId)?.target.isCrashed ?? true;
    if (this.#sessionId !== undefined && isGone) {
      this.#sessionId = undefined;
      this.#opened = undefined;
    }
    this.#opened ??= this.#open();
    // After a failure, the next call tries again.
    this.#opened.catch(() => {
      this.#opened = undefined;
    });
    return this.#opened;
  }

  async #open(): Promise<string> {
    const { model, view } = this.#transport;
    const context = await this.#transport.call('Target.createBrowserContext', { disposeOnDetach: true });
    const { browserContextId } = v.parse(createdContext, context);
    view.ownContext(browserContextId);
    const target = { url: 'about:blank', browserContextId, background: true };
    const { targetId } = v.parse(createdTarget, await this.#transport.call('Target.createTarget', target));
    // Playwright makes the browser attach to every new page, Puppeteer to its tab.
    const [session] = model.target(targetId)?.sessions ?? [];
    const sessionId = session?.id ?? (await this.#attach(targetId));
    await this.#transport.call('Runtime.runIfWaitingForDebugger', {}, sessionId);
    this.#sessionId = sessionId;
    return sessionId;
  }

  async #attach(targetId: string): Promise<string> {
    const response = await this.#transport.call('Target.attachToTarget', { targetId, flatten: true });
    return v.parse(attached, response).sessionId;
  }
}

import { randomUUID } from 'node:crypto';
import { join, posix } from 'node:path';
import type { Protocol } from 'devtools-protocol';
import type { Interceptor, InterceptorLink } from '../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../transport/message.ts';
import type { CarriedDownloads } from './carried-downloads.ts';
import { OwnPage } from './own-page.ts';
import { fetchRemoteFile } from './remote-file.ts';
import { removeHere } from './remove-here.ts';

/** The browser names the file, and it is written here: nothing that leads out of the folder. */
const FILE_NAME = /^[\w-]+$/;

/**
 * Brings downloads from the browser's disk to this machine's. Playwright names a folder of this machine and, once the
 * browser says that a download is complete, looks for the file there. Here the browser is told a folder of its own, and
 * its word that a download is complete is held back until the file has come over the link.
 */
export class Downloads implements Interceptor {
  readonly #link: InterceptorLink;
  readonly #page: OwnPage;
  readonly #carried: CarriedDownloads;
  /** Where the browser puts files. It makes the folder. */
  readonly #remoteFolder = `/tmp/poolwright-${randomUUID()}`;
  /** Where Playwright looks for them; the same for all its contexts. */
  #localFolder: string | undefined;

  /** @param carried those whose bodies are on this machine already */
  constructor(link: InterceptorLink, carried: CarriedDownloads) {
    this.#link = link;
    this.#carried = carried;
    this.#page = new OwnPage(link);
  }

  onCommand(command: CdpMessage): CdpMessage | null {
    if (command.sessionId !== undefined) return command;
    if (command.method === 'Browser.cancelDownload') return this.#cancel(command);
    if (command.method !== 'Browser.setDownloadBehavior') return command;
    const params = fieldsOf<Protocol.Browser.SetDownloadBehaviorRequest>(command.params);
    const { downloadPath } = params;
    // On Windows nobody knows whether the browser's disk has the same kind of paths.
    if (typeof downloadPath !== 'string' || process.platform === 'win32') return command;
    this.#localFolder = downloadPath;
    this.#carried.areTaken = true;
    return { ...command, params: { ...params, downloadPath: this.#remoteFolder } };
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    if (this.#page.onMessage(message) === null) return null;
    if (message.sessionId !== undefined) return message;
    if (message.method === 'Browser.downloadWillBegin') this.#carried.begin(fieldsOf(message.params));
    if (message.method !== 'Browser.downloadProgress') return message;
    const params = fieldsOf<Protocol.Browser.DownloadProgressEvent>(message.params);
    const { guid, state, receivedBytes } = params;
    const folder = this.#localFolder;
    if (state === 'canceled') this.#carried.drop(guid);
    if (state !== 'completed' || typeof receivedBytes !== 'number' || !folder) return message;
    if (typeof guid !== 'string' || !FILE_NAME.test(guid)) return message;
    this.#fetch(guid, receivedBytes, folder).then(
      (size) => this.#link.deliver({ ...message, params: { ...params, totalBytes: size, receivedBytes: size } }),
      // The only other end that Playwright knows.
      () => this.#link.deliver({ ...message, params: { ...params, state: 'canceled' } }),
    );
    return null;
  }

  end(): void {
    this.#carried.end();
    removeHere(this.#remoteFolder);
  }

  /** Returns its size in bytes. */
  async #fetch(guid: string, size: number, folder: string): Promise<number> {
    const remote = { path: posix.join(this.#remoteFolder, guid), size };
    const target = join(folder, guid);
    if (this.#carried.has(guid)) return await this.#carried.write(guid, target);
    await fetchRemoteFile(this.#link, (await this.#page.open()).sessionId, remote, target);
    removeHere(remote.path);
    return size;
  }

  /** The browser is through with a download whose body is here, and would know of none. */
  #cancel(command: CdpMessage): CdpMessage | null {
    const { guid } = fieldsOf<Protocol.Browser.CancelDownloadRequest>(command.params);
    if (!this.#carried.has(guid)) return command;
    this.#carried.cancel(guid);
    this.#link.deliver({ id: command.id, result: {} });
    return null;
  }
}

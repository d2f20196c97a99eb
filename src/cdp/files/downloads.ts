import { randomUUID } from 'node:crypto';
import { join, posix } from 'node:path';
import type { Protocol } from 'devtools-protocol';
import type { Interceptor, InterceptorLink } from '../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../transport/message.ts';
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
  /** Where the browser puts files. It makes the folder. */
  readonly #remoteFolder = `/tmp/poolwright-${randomUUID()}`;
  /** Where Playwright looks for them; the same for all its contexts. */
  #localFolder: string | undefined;

  constructor(link: InterceptorLink) {
    this.#link = link;
    this.#page = new OwnPage(link);
  }

  onCommand(command: CdpMessage): CdpMessage {
    if (command.method !== 'Browser.setDownloadBehavior' || command.sessionId !== undefined) return command;
    const params = fieldsOf<Protocol.Browser.SetDownloadBehaviorRequest>(command.params);
    const { downloadPath } = params;
    // On Windows nobody knows whether the browser's disk has the same kind of paths.
    if (typeof downloadPath !== 'string' || process.platform === 'win32') return command;
    this.#localFolder = downloadPath;
    return { ...command, params: { ...params, downloadPath: this.#remoteFolder } };
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    if (this.#page.onMessage(message) === null) return null;
    if (message.method !== 'Browser.downloadProgress' || message.sessionId !== undefined) return message;
    const params = fieldsOf<Protocol.Browser.DownloadProgressEvent>(message.params);
    const { guid, state, receivedBytes } = params;
    const folder = this.#localFolder;
    if (state !== 'completed' || typeof receivedBytes !== 'number' || !folder) return message;
    if (typeof guid !== 'string' || !FILE_NAME.test(guid)) return message;
    this.#fetch(guid, receivedBytes, folder).then(
      () => this.#link.deliver(message),
      // The only other end that Playwright knows.
      () => this.#link.deliver({ ...message, params: { ...params, state: 'canceled' } }),
    );
    return null;
  }

  end(): void {
    removeHere(this.#remoteFolder);
  }

  async #fetch(guid: string, size: number, folder: string): Promise<void> {
    const remote = { path: posix.join(this.#remoteFolder, guid), size };
    await fetchRemoteFile(this.#link, await this.#page.session(), remote, join(folder, guid));
    removeHere(remote.path);
  }
}

import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { CdpMessage } from '../transport/message.ts';
import type { OwnCommands } from '../transport/own-commands.ts';
import { OwnPage } from './own-page.ts';
import { fetchRemoteFile } from './remote-file.ts';

/** The browser names the file, and it is written here: nothing that leads out of the folder. */
const FILE_NAME = /^[\w-]+$/;

interface BehaviorFields {
  downloadPath?: unknown;
}

interface ProgressFields {
  guid?: unknown;
  state?: unknown;
  receivedBytes?: unknown;
}

/**
 * Brings downloads from the browser's disk to this machine's. Playwright names a folder of this machine and, once the
 * browser says that a download is complete, looks for the file there. Here the browser is told a folder of its own, and
 * its word that a download is complete is held back until the file has come over the link.
 */
export class Downloads {
  readonly #commands: OwnCommands;
  readonly #page: OwnPage;
  readonly #pass: (message: CdpMessage) => void;
  /** Where the browser puts files. It makes the folder. */
  readonly #remoteFolder = `/tmp/poolwright-${randomUUID()}`;
  /** Where Playwright looks for them; the same for all its contexts. */
  #localFolder: string | undefined;

  /** @param pass hands Playwright a message that was held back */
  constructor(commands: OwnCommands, pass: (message: CdpMessage) => void) {
    this.#commands = commands;
    this.#page = new OwnPage(commands);
    this.#pass = pass;
  }

  /** The command to send in place of `command`: the same one, unless it is Playwright's about downloads. */
  redirect(command: CdpMessage): CdpMessage {
    if (command.method !== 'Browser.setDownloadBehavior' || command.sessionId !== undefined) return command;
    const { downloadPath }: BehaviorFields = command.params ?? {};
    // On Windows nobody knows whether the browser's disk has the same kind of paths.
    if (typeof downloadPath !== 'string' || process.platform === 'win32') return command;
    this.#localFolder = downloadPath;
    return { ...command, params: { ...command.params, downloadPath: this.#remoteFolder } };
  }

  /** Whether a message is not to be passed on, or not yet. */
  holds(message: CdpMessage): boolean {
    if (this.#page.hides(message)) return true;
    if (message.method !== 'Browser.downloadProgress' || message.sessionId !== undefined) return false;
    const { guid, state, receivedBytes }: ProgressFields = message.params ?? {};
    const folder = this.#localFolder;
    if (state !== 'completed' || typeof receivedBytes !== 'number' || !folder) return false;
    if (typeof guid !== 'string' || !FILE_NAME.test(guid)) return false;
    this.#fetch(guid, receivedBytes, folder).then(
      () => this.#pass(message),
      // The only other end that Playwright knows.
      () => this.#pass({ ...message, params: { ...message.params, state: 'canceled' } }),
    );
    return true;
  }

  /** The link is down. */
  end(): void {
    removeHere(this.#remoteFolder);
  }

  async #fetch(guid: string, size: number, folder: string): Promise<void> {
    const remote = { path: posix.join(this.#remoteFolder, guid), size };
    await fetchRemoteFile(this.#commands, await this.#page.session(), remote, join(folder, guid));
    removeHere(remote.path);
  }
}

/** A browser on this machine has left its files on this disk: an emulated one. */
function removeHere(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // Another user's browser, then: it is not ours to remove.
  }
}

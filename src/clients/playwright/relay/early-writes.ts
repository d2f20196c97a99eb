import type { MessageOutput } from './early-close.ts';
import { createdBy, type PlaywrightMessage, readMessage } from './playwright-message.ts';

/** So much may be on its way before the client has to wait, in bytes. */
const MAX_QUEUED = 8 * 1024 * 1024;

/**
 * Uploads files without a round trip for each piece of 64 KiB: the client gets the response to each one at once. An
 * error of the server is the response to the end of the file, which waits.
 */
export class EarlyWrites {
  readonly #output: MessageOutput;
  /** Bytes that have not left this process. */
  readonly #queued: () => number;
  /** Files that are being written, each with the first error. */
  readonly #files = new Map<string, unknown>();
  /** Calls whose response the client already has, with their file. */
  readonly #settled = new Map<string | number, string>();
  /** Calls that end a file. */
  readonly #ends = new Map<string | number, string>();

  constructor(output: MessageOutput, queued: () => number) {
    this.#output = output;
    this.#queued = queued;
  }

  fromClient(text: string): void {
    this.#output.toServer(text);
    if (this.#files.size === 0) return;
    const { id, guid = '', method } = readMessage(text) ?? {};
    if (id === undefined || !this.#files.has(guid)) return;
    if (method === 'close') this.#ends.set(id, guid);
    if (method !== 'write' || this.#queued() > MAX_QUEUED) return;
    this.#settled.set(id, guid);
    // Without `result`, as from the server: Playwright takes anything else for an error.
    this.#output.toClient(JSON.stringify({ id }));
  }

  fromServer(text: string): void {
    const message = readMessage(text);
    if (message && this.#take(message)) return;
    this.#output.toClient(text);
    const object = message && createdBy(message);
    if (object?.type === 'WritableStream') this.#files.set(object.guid, undefined);
    if (message?.method === '__dispose__') this.#files.delete(message.guid ?? '');
  }

  /** Returns whether the client gets nothing else for a message. */
  #take({ id, error }: PlaywrightMessage): boolean {
    if (id === undefined) return false;
    const file = this.#settled.get(id);
    if (file !== undefined) {
      this.#settled.delete(id);
      this.#files.set(file, this.#files.get(file) ?? error);
      return true;
    }
    const failure = this.#files.get(this.#ends.get(id) ?? '');
    this.#ends.delete(id);
    if (failure === undefined) return false;
    this.#output.toClient(JSON.stringify({ id, error: failure }));
    return true;
  }
}

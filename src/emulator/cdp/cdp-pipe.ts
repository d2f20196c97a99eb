import type { Readable, Writable } from 'node:stream';
import * as v from 'valibot';
import { deferred } from '../../common/deferred.ts';
import { writeTogether } from '../../common/platform/streams.ts';
import { EmulatorError } from '../../errors.ts';
import type { ClientCommand } from './client-command.ts';
import { idAtHead } from './message-bytes.ts';

const ownResponse = v.looseObject({
  result: v.optional(v.record(v.string(), v.unknown())),
  error: v.optional(v.looseObject({ message: v.string() })),
});

const END = '\0';

/** Where a command's response goes, as Chromium wrote it, with the pipe's ID of the command. */
type ResponseTaker = (response: Buffer) => void;

/** The only line to a Chromium: CDP over `--remote-debugging-pipe`, JSON messages ended by a zero byte. */
export class CdpPipe {
  readonly #over = deferred();
  /** Resolves when Chromium says nothing more. */
  readonly closed = this.#over.promise;
  readonly #input: Writable;
  readonly #pending = new Map<number, ResponseTaker>();
  /** Reject the emulator's own commands that Chromium has not responded to. */
  readonly #rejects = new Set<(error: Error) => void>();
  #onEvent: (event: Buffer) => void = () => undefined;
  #lastId = 0;
  #chunks: Buffer[] = [];

  constructor(input: Writable, output: Readable) {
    this.#input = input;
    // An ended Chromium sends no response; its exit is handled elsewhere.
    input.on('error', () => this.#close());
    output.on('error', () => this.#close());
    output.on('close', () => this.#close());
    output.on('data', (chunk: Buffer) => this.#read(chunk));
  }

  /** From now on every event goes to `onEvent`, which may change its bytes. */
  giveTo(onEvent: (event: Buffer) => void): void {
    this.#onEvent = onEvent;
  }

  /** The emulator's own command. */
  async send(method: string, params: object = {}, sessionId?: string): Promise<Record<string, unknown>> {
    const response = await new Promise<Buffer>((resolve, reject) => {
      if (!this.#input.writable) return reject(closed());
      this.#rejects.add(reject);
      this.post({ method, params, sessionId }, (bytes) => {
        this.#rejects.delete(reject);
        resolve(bytes);
      });
    });
    const { result, error } = v.parse(ownResponse, JSON.parse(response.toString()));
    if (error) throw new EmulatorError('EMULATOR_START_FAILED', `Chromium responded: ${error.message}`);
    return result ?? {};
  }

  /**
   * Sends one command. It is always one message: JSON has no zero byte.
   * @returns its ID on the pipe, to forget it by
   */
  post(command: Omit<ClientCommand, 'id'>, onResponse: ResponseTaker): number {
    const id = ++this.#lastId;
    if (!this.#input.writable) return id;
    this.#pending.set(id, onResponse);
    const { method, params, written, sessionId } = command;
    writeTogether(this.#input);
    if (written) {
      this.#input.write(`${JSON.stringify({ id, method, sessionId }).slice(0, -1)},"params":`);
      this.#input.write(written);
      this.#input.write(`}${END}`);
    } else this.#input.write(JSON.stringify({ id, method, params, sessionId }) + END);
    return id;
  }

  /** Drops the response to a command. */
  forget(id: number): void {
    this.#pending.delete(id);
  }

  #read(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(0); end !== -1; end = chunk.indexOf(0, start)) {
      const last = chunk.subarray(start, end);
      this.#dispatch(this.#chunks.length === 0 ? last : Buffer.concat([...this.#chunks, last]));
      this.#chunks = [];
      start = end + 1;
    }
    if (start < chunk.length) this.#chunks.push(chunk.subarray(start));
  }

  #dispatch(message: Buffer): void {
    const id = idAtHead(message);
    if (id === undefined) {
      this.#onEvent(message);
      return;
    }
    const onResponse = this.#pending.get(id);
    this.#pending.delete(id);
    onResponse?.(message);
  }

  #close(): void {
    for (const reject of this.#rejects) reject(closed());
    this.#rejects.clear();
    this.#pending.clear();
    this.#over.resolve();
  }
}

function closed(): EmulatorError {
  return new EmulatorError('EMULATOR_START_FAILED', 'Chromium has ended.');
}

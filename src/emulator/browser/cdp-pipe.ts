import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import { EmulatorError } from '../../errors.ts';

const message = z.looseObject({
  id: z.number().optional(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.looseObject({ message: z.string() }).optional(),
});

type Pending = { resolve: (result: Record<string, unknown>) => void; reject: (error: Error) => void };

/** The emulator's own line to a Chromium: CDP over `--remote-debugging-pipe`, JSON messages ended by a zero byte. */
export class CdpPipe {
  readonly #input: Writable;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;
  #chunks: Buffer[] = [];

  constructor(input: Writable, output: Readable) {
    this.#input = input;
    // A Chromium that has ended answers nothing more; its exit is told elsewhere.
    input.on('error', () => this.#close());
    output.on('error', () => this.#close());
    output.on('close', () => this.#close());
    output.on('data', (chunk: Buffer) => this.#read(chunk));
  }

  send(method: string, params: object = {}, sessionId?: string): Promise<Record<string, unknown>> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      if (!this.#input.writable) return reject(closed());
      this.#pending.set(id, { resolve, reject });
      this.#input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  #read(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(0); end !== -1; end = chunk.indexOf(0, start)) {
      this.#chunks.push(chunk.subarray(start, end));
      this.#dispatch(Buffer.concat(this.#chunks).toString());
      this.#chunks = [];
      start = end + 1;
    }
    if (start < chunk.length) this.#chunks.push(chunk.subarray(start));
  }

  #dispatch(text: string): void {
    const { id, result, error } = message.parse(JSON.parse(text));
    const pending = id === undefined ? undefined : this.#pending.get(id);
    if (id === undefined || !pending) return;
    this.#pending.delete(id);
    if (error) pending.reject(new EmulatorError('EMULATOR_START_FAILED', `Chromium answered: ${error.message}`));
    else pending.resolve(result ?? {});
  }

  #close(): void {
    for (const { reject } of this.#pending.values()) reject(closed());
    this.#pending.clear();
  }
}

function closed(): EmulatorError {
  return new EmulatorError('EMULATOR_START_FAILED', 'Chromium has ended.');
}

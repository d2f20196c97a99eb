import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import pTimeout from 'p-timeout';
import { LeaseError, PoolwrightError } from '../../errors.ts';

/**
 * Resolves when a stream ends: its other end was closed, or the process behind it died. On Windows, reading a pipe may
 * fail instead of ending; that counts as its end. Never rejects. Something must read the stream.
 */
export function streamEnd(stream: Readable): Promise<void> {
  if (stream.readableEnded || stream.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    for (const event of ['end', 'close', 'error']) stream.once(event, () => resolve());
  });
}

/** What is written to the stream until this task ends leaves in one system call instead of one for each message. */
export function writeTogether(stream: Writable): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  process.nextTick(() => stream.uncork());
}

/** The first line of a stream, parsed as JSON; rejects when the stream ends before one, or after `timeout` ms. */
export async function firstJsonLine(stream: Readable, timeout: number): Promise<unknown> {
  const message = new PoolwrightError('TIMEOUT', `no response within ${timeout / 1000} s`);
  const line = await pTimeout(firstLine(stream), { milliseconds: timeout, message });
  if (line === null) throw new LeaseError('BROKER_FAILED', 'the stream ended without a line');
  try {
    return JSON.parse(line);
  } catch {
    throw new LeaseError('BROKER_FAILED', 'the first line is not JSON');
  }
}

/** The first line of a stream; null when it ends before one, however long that takes. */
export async function firstLine(stream: Readable): Promise<string | null> {
  const lines = createInterface({ input: stream });
  try {
    return await new Promise<string | null>((resolve) => {
      lines.once('line', resolve);
      lines.once('close', () => resolve(null));
    });
  } finally {
    lines.removeAllListeners();
    lines.close();
    // Closing the reader pauses the stream, but its owner may need the `end` event.
    stream.resume();
  }
}

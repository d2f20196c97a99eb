import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import pTimeout from 'p-timeout';
import { PoolwrightError } from '../errors.ts';

/** The first line of a stream, parsed as JSON; rejects when the stream ends before one, or after `timeout` ms. */
export async function firstJsonLine(stream: Readable, timeout: number): Promise<unknown> {
  const lines = createInterface({ input: stream });
  const line = new Promise<unknown>((resolve, reject) => {
    lines.once('line', (text) => {
      try {
        resolve(JSON.parse(text));
      } catch {
        reject(new PoolwrightError('BROKER_FAILED', 'the first line is not JSON'));
      }
    });
    lines.once('close', () => reject(new PoolwrightError('BROKER_FAILED', 'the stream ended without a line')));
  });
  try {
    const message = new PoolwrightError('TIMEOUT', `no answer within ${timeout / 1000} s`);
    return await pTimeout(line, { milliseconds: timeout, message });
  } finally {
    lines.removeAllListeners();
    lines.close();
    // Closing the reader pauses the stream; who holds it may want to see its end.
    stream.resume();
  }
}

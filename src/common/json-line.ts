import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { PoolwrightError } from '../errors.ts';

/** The first line of a stream, parsed as JSON; rejects when the stream ends before one, or after `timeout` ms. */
export async function firstJsonLine(stream: Readable, timeout: number): Promise<unknown> {
  const lines = createInterface({ input: stream });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      timer = setTimeout(() => reject(new PoolwrightError('TIMEOUT', `no answer within ${timeout / 1000} s`)), timeout);
      lines.once('line', (line) => {
        try {
          resolve(JSON.parse(line));
        } catch {
          reject(new PoolwrightError('BROKER_FAILED', 'the first line is not JSON'));
        }
      });
      lines.once('close', () => reject(new PoolwrightError('BROKER_FAILED', 'the stream ended without a line')));
    });
  } finally {
    clearTimeout(timer);
    lines.removeAllListeners();
    lines.close();
    // Closing the reader pauses the stream; who holds it may want to see its end.
    stream.resume();
  }
}

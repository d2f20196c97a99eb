import type { Readable } from 'node:stream';

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

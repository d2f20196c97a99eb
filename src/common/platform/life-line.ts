import type { Readable } from 'node:stream';

/**
 * Resolves when a stream is over: its other end was closed, or the process behind it died. On Windows, reading a pipe can fail
 * in place of ending; that is an end like any other. Never rejects. The stream must be read by somebody.
 */
export function over(stream: Readable): Promise<void> {
  if (stream.readableEnded || stream.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    for (const event of ['end', 'close', 'error']) stream.once(event, () => resolve());
  });
}

import type { Writable } from 'node:stream';

/** What is written to the stream until this task ends leaves in one system call instead of one for each message. */
export function writeTogether(stream: Writable): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  process.nextTick(() => stream.uncork());
}

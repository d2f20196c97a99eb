import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The clock of the file system that a directory is on, in ms since the epoch: the same for all who share the directory,
 * whatever their own clocks show. For ledgers of browsers whose service tells no time. Where the directory cannot be
 * written to, this machine's clock.
 */
export function directoryClock(directory: string | null): () => number {
  if (directory === null) return Date.now;
  return () => {
    const file = join(directory, `clock-${randomUUID()}.tmp`);
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      writeFileSync(file, '', { mode: 0o600 });
      const { mtimeMs } = statSync(file);
      rmSync(file);
      return mtimeMs;
    } catch {
      return Date.now();
    }
  };
}

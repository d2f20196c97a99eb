import { rename } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** How long who has the file open is waited for, try by try, in ms. */
const WAITS_MS = [20, 50, 100, 200, 400];

/** How a file is moved; for tests. */
export interface Moving {
  platform?: NodeJS.Platform;
  move?: typeof rename;
  wait?: (ms: number) => Promise<unknown>;
}

/**
 * Moves a file to where another one may be, which it replaces. Windows refuses that while anybody has the other one open: a virus
 * scanner, an editor or a reader of the moment. It is tried again there for 0.8 s.
 * @throws what the last try failed with
 */
export async function moveOver(from: string, to: string, moving: Moving = {}): Promise<void> {
  const { platform = process.platform, move = rename, wait = sleep } = moving;
  const waits = platform === 'win32' ? WAITS_MS : [];
  for (const ms of waits) {
    try {
      return await move(from, to);
    } catch (error) {
      if (!isHeldOpen(error)) throw error;
      await wait(ms);
    }
  }
  await move(from, to);
}

function isHeldOpen(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(EPERM|EACCES|EBUSY)$/.test(String(error.code));
}

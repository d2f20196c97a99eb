import { rename } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** How long to wait for a program that has the file open, per try, in ms. */
const WAITS_MS = [20, 50, 100, 200, 400];

/** How a file is moved; for tests. */
export interface Moving {
  platform?: NodeJS.Platform;
  move?: typeof rename;
  wait?: (ms: number) => Promise<unknown>;
}

/**
 * Moves a file, and replaces an existing one. Windows rejects that while another program has the existing file open,
 * such as a virus scanner or an editor: there, it retries for 0.8 s.
 * @throws the error of the last try
 */
export async function replaceFile(from: string, to: string, moving: Moving = {}): Promise<void> {
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

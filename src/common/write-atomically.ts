import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Writes a file, and creates its directory if it is missing. It writes a temporary file, flushes it to the disk and
 * moves it into place, so that even after a crash the file is either the old or the new one. Only one writer per file.
 */
export async function writeAtomically(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const beside = `${file}.${process.pid}.tmp`;
  try {
    const handle = await open(beside, 'w');
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await replaceFile(beside, file);
  } catch (error) {
    // A full disk may leave an incomplete file: remove it.
    await rm(beside, { force: true }).catch(() => undefined);
    throw error;
  }
}

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

import { mkdir, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { replaceFile } from './platform/replace-file.ts';

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

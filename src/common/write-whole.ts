import { mkdir, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { moveOver } from './platform/move-over.ts';

/**
 * Writes a file, and the folder that it lies in where there is none: beside it, to the disk, and moved into place.
 * Whatever crashes, the file is the old one or the new one. One writer of a file at a time.
 */
export async function writeWhole(file: string, text: string): Promise<void> {
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
    await moveOver(beside, file);
  } catch (error) {
    // A full disk takes half of it: that is of no use to anybody.
    await rm(beside, { force: true }).catch(() => undefined);
    throw error;
  }
}

import { rmSync } from 'node:fs';

/** Removes the files that a browser on this machine (an emulated one) has left on this disk. */
export function removeLocalFiles(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // They belong to another user's browser, and are not ours to remove.
  }
}

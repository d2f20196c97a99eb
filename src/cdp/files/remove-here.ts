import { rmSync } from 'node:fs';

/** Removes what a browser on this machine, an emulated one, has left of its files on this disk. */
export function removeHere(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // Another user's browser, then: it is not ours to remove.
  }
}

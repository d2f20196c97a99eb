import { constants } from 'node:fs';
import { cp, lstat, rm } from 'node:fs/promises';
import { relative } from 'node:path';

/**
 * Copies files and directories of `from` into `to`; no links, no sockets, and only what `wanted` says of its path in
 * `from`.
 */
export async function copyTree(from: string, to: string, wanted = (_path: string) => true): Promise<void> {
  await cp(from, to, {
    recursive: true,
    mode: constants.COPYFILE_FICLONE,
    filter: async (source) => {
      if (!wanted(relative(from, source))) return false;
      const stats = await lstat(source).catch(() => undefined);
      return stats !== undefined && (stats.isDirectory() || stats.isFile());
    },
  });
}

/** Never rejects. A helper process may still be writing its last file, so this tries again for a moment. */
export async function removeTree(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }).catch(() => undefined);
}

import { isAbsolute, relative } from 'node:path';

/** Whether a path is below a folder, by their names alone. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '' && !way.startsWith('..') && !isAbsolute(way);
}

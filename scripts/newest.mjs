import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** When the newest file of a path was changed, in ms since 1970. */
export function newest(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(0, ...readdirSync(path).map((name) => newest(join(path, name))));
}

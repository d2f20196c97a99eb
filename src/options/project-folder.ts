import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';

/** The package that a test suite belongs to. */
export interface ProjectFolder {
  /** Folder of the nearest `package.json`, or the given one. */
  root: string;
  /** Names the suite in the notes of its sessions: the same on every machine, six hexadecimal digits. */
  suite: string;
  /** Where the ledgers of its runs lie: outside of the output folder, which Playwright empties. */
  ledgerFolder: string;
}

/** The project of a folder: that of the Playwright config, or the one a command runs in. */
export function projectFolder(start: string): ProjectFolder {
  const root = packageRoot(resolve(start)) ?? resolve(start);
  return { root, suite: shortHash(packageName(root)).slice(0, 6), ledgerFolder: ledgerFolder(root) };
}

function packageRoot(start: string): string | null {
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (folder === dirname(folder)) return null;
  }
}

function packageName(root: string): string {
  try {
    const { name }: { name?: unknown } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    if (typeof name === 'string' && name !== '') return name;
  } catch {
    // No package, or not a readable one: the folder's name has to do.
  }
  return basename(root);
}

/** Beside the other tools' caches; a project without `node_modules` gets a folder of this user's in the system's. */
function ledgerFolder(root: string): string {
  const modules = join(root, 'node_modules');
  if (existsSync(modules)) return join(modules, '.cache', 'poolwright');
  return join(tmpdir(), `poolwright-${userName()}`, shortHash(root));
}

function userName(): string {
  try {
    return userInfo().username.replace(/[^\w.-]/g, '_');
  } catch {
    return 'user'; // a container's user need not have a name
  }
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readFileSync, type Stats } from 'node:fs';
import { homedir, tmpdir, userInfo } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { up as nearestPackage } from 'empathic/package';

/** The package that a test suite belongs to. */
export interface ProjectFolder {
  /** Folder of the nearest `package.json`, or the given one. */
  root: string;
  /** Name of the package; without one, of the folder. */
  name: string;
  /** Names the suite in the notes of its sessions: the same on every machine, six hexadecimal digits. */
  suite: string;
  /**
   * Where the ledgers of its runs lie: outside of the output folder, which Playwright empties. Null: there is no place
   * that only this user can write to.
   */
  ledgerFolder: string | null;
}

/** The project of a folder: that of the Playwright config, or the one a command runs in. */
export function projectFolder(start: string): ProjectFolder {
  const found = nearestPackage({ cwd: resolve(start) });
  const root = found ? dirname(found) : resolve(start);
  const name = packageName(root);
  return { root, name, suite: shortHash(name).slice(0, 6), ledgerFolder: ledgerFolder(root) };
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

/** Beside the other tools' caches; a project without `node_modules` has a folder of this user's. */
function ledgerFolder(root: string): string | null {
  const modules = join(root, 'node_modules');
  if (existsSync(modules)) return join(modules, '.cache', 'poolwright');
  const home = homedir();
  if (isOwn(home)) return join(home, '.cache', 'poolwright', shortHash(root));
  const own = ownTemporaryFolder();
  return own && join(own, shortHash(root));
}

/**
 * Everybody may write into the system's temporary folder, and knows the name that we look for there: what lies there is
 * ours only if this user alone can write into it. Null: it is not.
 */
function ownTemporaryFolder(): string | null {
  const folder = join(tmpdir(), `poolwright-${userName()}`);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch {
    // It exists already, or nothing can be written.
  }
  const isPrivate = process.platform === 'win32' || ((statsOf(folder)?.mode ?? 0o777) & 0o077) === 0;
  return isOwn(folder) && isPrivate ? folder : null;
}

/**
 * Whether it is a folder, not a link to one, and this user's. Windows has no such owners; its folders are the user's
 * own.
 */
function isOwn(folder: string): boolean {
  const found = statsOf(folder);
  return found?.isDirectory() === true && (process.getuid === undefined || found.uid === process.getuid());
}

function statsOf(folder: string): Stats | null {
  try {
    return lstatSync(folder);
  } catch {
    return null; // nothing is there, or nothing that we can see
  }
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

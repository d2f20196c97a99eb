import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readFileSync, type Stats } from 'node:fs';
import { homedir, tmpdir, userInfo } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { up as nearestPackage } from 'empathic/package';

/** The package that a test suite belongs to. */
export interface ProjectDirectory {
  /** Directory of the nearest `package.json`, or the given one. */
  root: string;
  /** Name of the package; without one, of the directory. */
  name: string;
  /** Names the suite in the notes of its sessions: the same on every machine, six hexadecimal digits. */
  suite: string;
  /**
   * Directory of the ledgers of its runs, outside of the output directory, which Playwright empties. Null: there is no
   * place that only this user can write to.
   */
  ledgerDirectory: string | null;
}

/** The project of a directory: that of the Playwright config, or the one a command runs in. */
export function projectDirectory(start: string): ProjectDirectory {
  const found = nearestPackage({ cwd: resolve(start) });
  const root = found ? dirname(found) : resolve(start);
  const name = packageName(root);
  return { root, name, suite: shortHash(name).slice(0, 6), ledgerDirectory: ledgerDirectory(root) };
}

function packageName(root: string): string {
  try {
    const { name }: { name?: unknown } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    if (typeof name === 'string' && name !== '') return name;
  } catch {
    // No package, or not a readable one: the directory's name has to do.
  }
  return basename(root);
}

/** Beside the other tools' caches; a project without `node_modules` has a directory of this user's. */
function ledgerDirectory(root: string): string | null {
  const modules = join(root, 'node_modules');
  if (existsSync(modules)) return join(modules, '.cache', 'poolwright');
  const home = homedir();
  if (isOfThisUser(home)) return join(home, '.cache', 'poolwright', shortHash(root));
  const temporary = ownTemporaryDirectory();
  return temporary && join(temporary, shortHash(root));
}

/**
 * Everybody may write into the system's temporary directory, and knows the name that we look for there: that directory
 * is ours only if this user alone can write into it. Null: it is not.
 */
function ownTemporaryDirectory(): string | null {
  const directory = join(tmpdir(), `poolwright-${userName()}`);
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch {
    // It exists already, or nothing can be written.
  }
  const isPrivate = process.platform === 'win32' || ((statsOf(directory)?.mode ?? 0o777) & 0o077) === 0;
  return isOfThisUser(directory) && isPrivate ? directory : null;
}

/**
 * Whether it is a directory, not a link to one, and this user's. Windows has no such owners; its directories are the
 * user's own.
 */
function isOfThisUser(directory: string): boolean {
  const found = statsOf(directory);
  return found?.isDirectory() === true && (process.getuid === undefined || found.uid === process.getuid());
}

function statsOf(directory: string): Stats | null {
  try {
    return lstatSync(directory);
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

import { execFile } from 'node:child_process';
import { chmod, mkdir, realpath, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { removeTree } from './trees.ts';

const run = promisify(execFile);

/** Bound on finding out whether the system allows it, in ms. */
const PROBE_MS = 10_000;
/** Directories that no browser starts without. */
const SYSTEM = /^\/($|(usr|etc|lib\w*|s?bin|opt|var|proc|sys|dev|run)($|\/))/;

/** How to start a program. */
export interface Command {
  file: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
}

/** One `mount`: how, from where, to where. */
type Mount = readonly [how: '--bind' | '--rbind', from: string, to: string];

/** A shell script: mounts by the arguments before `--`, three for each mount, then executes the rest as a command. */
const SCRIPT = 'while [ "$1" != -- ]; do mount "$1" "$2" "$3" || exit 1; shift 3; done; shift; exec "$@"';

export interface BrowserDisk {
  /** The command that starts a program there. */
  wrap(command: Command): Command;
  /** To be called when the browser is gone. */
  remove(): Promise<void>;
}

/**
 * A disk that one browser does not share with this machine: its `/tmp`, temporary directory and working directory
 * differ from those of the emulator, as for a browser far away (a mount namespace of Linux, which ends with the
 * browser). A client that passes a path of this machine to such a browser, or reads a file that it has written, fails
 * on the emulator as it would on the service.
 * @param directory for the other directories; made here, and removed with the disk
 * @param visible paths of this machine that the browser needs, under the same names
 * @throws the system's error if it does not support this
 */
export async function separateDisk(directory: string, visible: readonly string[]): Promise<BrowserDisk> {
  if (process.platform !== 'linux') throw new Error(`${process.platform} has no mount namespaces`);
  await mkdir(directory);
  try {
    // The directory that contains all replacements is replaced last: after that, they cannot be reached.
    const hiddenLast = (path: string) => Number(isInside(directory, path));
    const hidden = (await hiddenDirectories()).sort((a, b) => hiddenLast(a) - hiddenLast(b));
    const mounts: Mount[] = [];
    for (const [index, path] of hidden.entries()) {
      for (const mount of await replacement(path, join(directory, String(index)), visible)) mounts.push(mount);
    }
    return { wrap: (command) => withMounts(mounts, command), remove: () => removeTree(directory) };
  } catch (error) {
    await removeTree(directory);
    throw error;
  }
}

/** @throws the system's error if it does not support this disk */
export async function probeDisk(disk: BrowserDisk): Promise<void> {
  const { file, args, env } = disk.wrap({ file: 'true', args: [], env: process.env });
  await run(file, [...args], { env, timeout: PROBE_MS });
}

/** The command that makes the mounts and then becomes the program: its process is the program's. */
function withMounts(mounts: readonly Mount[], { file, args, env }: Command): Command {
  const as = isRoot() ? [] : ['--user', '--map-root-user'];
  // Only root may mount, so the user is mapped to root for that, and back for the browser.
  const { uid, gid } = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const asMyself = isRoot() ? [] : ['unshare', '--user', `--map-user=${uid}`, `--map-group=${gid}`, '--'];
  const inside = ['sh', '-c', SCRIPT, 'sh', ...mounts.flat(), '--', ...asMyself, file, ...args];
  return { file: 'unshare', args: [...as, '--mount', '--propagation', 'private', ...inside], env };
}

/** Makes the directory that replaces a hidden one. Returns the mounts: of what stays visible in it, and its own. */
async function replacement(hidden: string, other: string, visible: readonly string[]): Promise<Mount[]> {
  await mkdir(other);
  await chmod(other, 0o1777);
  const mounts: Mount[] = [];
  for (const path of visible.filter((each) => isInside(each, hidden))) {
    const target = join(other, relative(hidden, path));
    const isDirectory = (await stat(path)).isDirectory();
    await mkdir(isDirectory ? target : dirname(target), { recursive: true });
    if (!isDirectory) await writeFile(target, '');
    mounts.push(['--bind', path, target]);
  }
  return [...mounts, ['--rbind', other, hidden]];
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** The directories to hide, without those inside another one, which are hidden with it. */
async function hiddenDirectories(): Promise<string[]> {
  const here = await realpath(process.cwd());
  const wanted = new Set(['/tmp', await realpath(tmpdir()), ...(SYSTEM.test(here) ? [] : [here])]);
  return [...wanted].filter((each) => ![...wanted].some((other) => other !== each && isInside(each, other)));
}

/** Whether a path is below a directory, by their names alone. */
function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way !== '' && !way.startsWith('..') && !isAbsolute(way);
}

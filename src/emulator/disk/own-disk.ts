import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import pTimeout from 'p-timeout';
import { isInside } from './is-inside.ts';

const run = promisify(execFile);

/** Bound on each step of making one, in ms. */
const STEP_MS = 5_000;
/** Folders that no browser starts without. */
const SYSTEM = /^\/($|(usr|etc|lib\w*|s?bin|opt|var|proc|sys|dev|run)($|\/))/;

/** How to start a program. */
export interface Command {
  file: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
}

/**
 * A disk that one browser does not share with this machine: its `/tmp`, the temporary folder and the folder that the
 * emulator was started in are others (a mount namespace of Linux), as they are for a browser far away. Whoever hands such a
 * browser a path of this machine, or looks here for what it has written, is told so by the emulator, not by production.
 */
export class OwnDisk {
  readonly #folder: string;
  /** Holds the namespaces until the browser does; ends with our pipe to it, whatever ends us. */
  readonly #holder: ChildProcess;

  private constructor(folder: string, holder: ChildProcess) {
    this.#folder = folder;
    this.#holder = holder;
  }

  /**
   * @param folder where the other folders are kept; made here, removed by {@link remove}
   * @param visible paths of this machine that the browser needs, under their own names
   * @throws what the system says when it does not allow this
   */
  static async make(folder: string, visible: readonly string[]): Promise<OwnDisk> {
    if (process.platform !== 'linux') throw new Error(`${process.platform} has no mount namespaces`);
    await mkdir(folder);
    const as = isRoot() ? [] : ['--user', '--map-root-user'];
    const holder = spawn('unshare', [...as, '--mount', '--propagation', 'private', 'cat'], {
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    });
    holder.unref();
    const disk = new OwnDisk(folder, holder);
    try {
      await disk.#begin();
      // The one that the others' replacements lie in comes last: they cannot be reached any more once it is replaced.
      const hiddenLast = (path: string) => Number(isInside(folder, path));
      const hidden = (await hiddenFolders()).sort((a, b) => hiddenLast(a) - hiddenLast(b));
      for (const [index, path] of hidden.entries()) {
        await disk.#replace(path, join(folder, String(index)), visible);
      }
      return disk;
    } catch (error) {
      await disk.remove();
      throw error;
    }
  }

  /** The command that starts a program on this disk. It becomes that program: its process is the program's. */
  wrap({ file, args, env }: Command): Command {
    const { uid, gid } = this.#self();
    const asMyself = isRoot() ? [] : ['unshare', '--user', `--map-user=${uid}`, `--map-group=${gid}`, '--'];
    const [program = file, ...rest] = [...this.#enter(), ...asMyself, file, ...args];
    return { file: program, args: rest, env };
  }

  /** To be called when the browser runs. */
  async started(): Promise<void> {
    const { exitCode, signalCode, pid } = this.#holder;
    // One that could not be started does not end, either.
    if (exitCode !== null || signalCode !== null || pid === undefined) return;
    const ended = once(this.#holder, 'exit');
    this.#holder.kill('SIGKILL');
    await ended;
  }

  /** To be called when the browser is gone. */
  async remove(): Promise<void> {
    await this.started();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }).catch(() => undefined);
  }

  async #begin(): Promise<void> {
    const { stdin, stdout } = this.#holder;
    stdin?.on('error', () => undefined);
    stdin?.write('.');
    const failed = once(this.#holder, 'exit').then(([code]) => {
      throw new Error(`unshare ended with ${code}`);
    });
    failed.catch(() => undefined);
    await pTimeout(Promise.race([once(stdout ?? this.#holder, 'data'), failed]), {
      milliseconds: STEP_MS,
      message: `unshare did not start within ${STEP_MS / 1000} s`,
    });
  }

  /** Puts another folder in the place of one, with what must stay visible in it. */
  async #replace(hidden: string, other: string, visible: readonly string[]): Promise<void> {
    await mkdir(other);
    await chmod(other, 0o1777);
    for (const path of visible.filter((each) => isInside(each, hidden))) {
      const place = join(other, relative(hidden, path));
      const isFolder = (await stat(path)).isDirectory();
      await mkdir(isFolder ? place : dirname(place), { recursive: true });
      if (!isFolder) await writeFile(place, '');
      await this.#mount('--bind', path, place);
    }
    await this.#mount('--rbind', other, hidden);
  }

  async #mount(how: '--bind' | '--rbind', from: string, to: string): Promise<void> {
    const [program = '', ...args] = [...this.#enter(), 'mount', how, from, to];
    await run(program, args, { timeout: STEP_MS });
  }

  #enter(): string[] {
    const namespaces = `/proc/${this.#holder.pid}/ns`;
    const user = isRoot() ? [] : [`--user=${namespaces}/user`, '--preserve-credentials'];
    return ['nsenter', ...user, `--mount=${namespaces}/mnt`, '--'];
  }

  #self(): { uid: number; gid: number } {
    return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Outermost folders only: what is in one of them is hidden with it. */
async function hiddenFolders(): Promise<string[]> {
  const here = await realpath(process.cwd());
  const wanted = new Set(['/tmp', await realpath(tmpdir()), ...(SYSTEM.test(here) ? [] : [here])]);
  return [...wanted].filter((each) => ![...wanted].some((other) => other !== each && isInside(each, other)));
}

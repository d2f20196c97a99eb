import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { distFile } from '../common/dist-file.ts';
import { within } from '../common/pause.ts';
import { type LeaseConfig, LISTENS, leaseSocket } from './lease/lease-config.ts';
import { type Account, makeLeaseDirectory, removeLeaseDirectory } from './lease-directories.ts';

export interface LeaseLimits {
  /** Leases at a time. */
  leases: number;
  /** Memory of one lease, in MB: of its process and of those that it starts (pipes, ffmpeg). */
  memoryMB: number;
  /** Duration of one lease, in minutes. */
  minutes: number;
}

/** Settings of the processes of leases. */
export interface LeaseProcessOptions {
  limits: LeaseLimits;
  /** The account of the processes; undefined: that of this process. */
  user: Account | undefined;
  /** Called with a line about a lease that was ended early. */
  onLog(line: string): void;
}

/** A process that serves one worker. */
export interface LeaseProcess {
  /** Path of the socket on which it listens. */
  socket: string;
  /** Kills it, and removes what it has written. Calling it again has no effect. */
  end(): void;
  /** Resolves when nothing of it is left. */
  ended: Promise<void>;
}

/** Time limit for a process to start, in ms. */
const START_TIMEOUT_MS = 20_000;
/** How often memory is checked, in ms. */
const CHECK_MS = 1_000;
/** The variables that a lease needs; it must not get the relay's secret. */
const PASSED_ON = ['PATH', 'LANG', 'LC_ALL', 'TZ', 'NODE_EXTRA_CA_CERTS', 'PLAYWRIGHT_BROWSERS_PATH'];

/** Starts and ends the processes of leases. */
export class LeaseProcesses {
  readonly #options: LeaseProcessOptions;
  readonly #processes = new Set<LeaseProcess>();
  /** Those that are being started count, too. */
  #count = 0;
  #hasEnded = false;

  constructor(options: LeaseProcessOptions) {
    this.#options = options;
  }

  /** Whether no further lease is allowed now. */
  get isFull(): boolean {
    return this.#count >= this.#options.limits.leases;
  }

  get size(): number {
    return this.#count;
  }

  async start(config: Omit<LeaseConfig, 'directory'>): Promise<LeaseProcess> {
    const { user } = this.#options;
    // At once, so that leases which start at the same time count.
    this.#count += 1;
    let directory: string | undefined;
    let child: ChildProcess;
    try {
      directory = await makeLeaseDirectory(user);
      if (this.#hasEnded) throw new Error('the relay has ended');
      child = this.#fork(directory);
    } catch (error) {
      if (directory !== undefined) await removeLeaseDirectory(directory, user);
      this.#count -= 1;
      throw error;
    }
    return await this.#started(child, directory, config);
  }

  /** Ends all leases. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    const all = [...this.#processes];
    for (const lease of all) lease.end();
    await Promise.all(all.map(({ ended }) => ended));
  }

  /** @throws Error when the system starts no process */
  #fork(directory: string): ChildProcess {
    const { limits, user } = this.#options;
    return fork(distFile('relay-lease.js'), {
      cwd: directory,
      env: environment(directory),
      execArgv: [`--max-old-space-size=${limits.memoryMB}`],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      ...user,
    });
  }

  async #started(
    child: ChildProcess,
    directory: string,
    config: Omit<LeaseConfig, 'directory'>,
  ): Promise<LeaseProcess> {
    const { user } = this.#options;
    const exited = once(child, 'exit').catch(() => undefined);
    let timer: NodeJS.Timeout | undefined;
    const lease: LeaseProcess = {
      socket: leaseSocket(directory),
      end: () => void child.kill('SIGKILL'),
      ended: exited.then(async () => {
        clearInterval(timer);
        await removeLeaseDirectory(directory, user);
        this.#processes.delete(lease);
        this.#count -= 1;
      }),
    };
    this.#processes.add(lease);
    const listens = new Promise<boolean>((resolve) => {
      child.once('message', (text) => resolve(text === LISTENS));
      void exited.then(() => resolve(false));
    });
    child.send({ ...config, directory } satisfies LeaseConfig, () => undefined);
    if (await within(listens, START_TIMEOUT_MS, false)) {
      timer = this.#limit(child);
      return lease;
    }
    lease.end();
    throw new Error('the process of a lease did not start');
  }

  #limit(child: ChildProcess): NodeJS.Timeout {
    const { limits, onLog } = this.#options;
    const until = performance.now() + limits.minutes * 60_000;
    const check = async (): Promise<void> => {
      const used = await processMemoryMB(child.pid ?? 0);
      const isLate = performance.now() > until;
      if (!isLate && used <= limits.memoryMB) return;
      onLog(isLate ? `a lease was ended after ${limits.minutes} min` : `a lease was ended at ${used} MB of memory`);
      child.kill('SIGKILL');
    };
    return setInterval(() => void check(), CHECK_MS);
  }
}

function environment(directory: string): NodeJS.ProcessEnv {
  const passed = PASSED_ON.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  return { ...Object.fromEntries(passed), TMPDIR: directory, HOME: directory };
}

/** Linux counts memory in pages of 4 KiB. */
const PAGE_BYTES = 4096;

/** Memory of a process and all its descendants, in MB; 0 where the system does not list it. */
export async function processMemoryMB(pid: number): Promise<number> {
  return Math.round(((await pagesOf(pid)) * PAGE_BYTES) / 1e6);
}

async function pagesOf(pid: number): Promise<number> {
  const [own, children] = await Promise.all([read(`/proc/${pid}/statm`), read(`/proc/${pid}/task/${pid}/children`)]);
  const pids = children.split(' ').filter((each) => each !== '');
  const pages = await Promise.all(pids.map((each) => pagesOf(Number(each))));
  return pages.reduce((sum, each) => sum + each, Number(own.split(' ')[1] ?? 0));
}

/** Empty if the process has ended. */
async function read(file: string): Promise<string> {
  return await readFile(file, 'utf8').catch(() => '');
}

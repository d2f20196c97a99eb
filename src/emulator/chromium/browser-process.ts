import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import pTimeout from 'p-timeout';
import { EmulatorError } from '../../errors.ts';
import { CdpPipe } from '../cdp/cdp-pipe.ts';
import type { Command } from '../disk/separate-disk.ts';
import { killGroup } from './kill-group.ts';

/** How a Chromium ended: `code` 0 is an orderly end (`Browser.close`), anything else a crash. */
export interface BrowserExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** How long a Chromium may take to write its profile out before its process group is killed. */
const KEEPING_GRACE_MS = 10_000;
const KILL_GRACE_MS = 3_000;
const STDERR_KEPT = 4_096;

/** One Chromium: its process group, our pipe to it, and its end. */
export class BrowserProcess {
  readonly pipe: CdpPipe;
  /** Settles when the process is gone, however that came about. Never rejects. */
  readonly exited: Promise<BrowserExit>;
  readonly #child: ChildProcess;
  readonly #stderr: Readable;
  #said = '';
  #isReady = false;
  #exit: BrowserExit | undefined;
  #stopping: Promise<void> | undefined;

  constructor({ file, args, env }: Command) {
    this.#child = spawn(file, args, {
      env,
      // Its own process group: a Ctrl-C in the terminal is ours to handle, and the whole tree can be killed at once.
      detached: true,
      windowsHide: true,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    });
    const [, , , input, output] = this.#child.stdio;
    this.pipe = new CdpPipe(input as Writable, output as Readable);
    this.exited = this.#watchExit();
    this.#stderr = this.#child.stderr as Readable;
    this.#stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#said = (this.#said + text).slice(-STDERR_KEPT);
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Resolves when Chromium responds on its pipe. @throws EmulatorError with its last output if it exits instead. */
  async ready(): Promise<void> {
    await Promise.race([this.pipe.send('Browser.getVersion'), this.#failed()]).catch(() => this.#failed());
    this.#isReady = true;
  }

  /** Ends the process and everything it started, in bounded time; with `keepsProfile`, it may write that out first. */
  stop(keepsProfile = false): Promise<void> {
    this.#stopping ??= this.#stop(keepsProfile);
    return this.#stopping;
  }

  async #stop(keepsProfile: boolean): Promise<void> {
    // It writes the profile out as it closes. One that never responded would not receive the command.
    if (keepsProfile && !this.#exit && this.#isReady) {
      this.pipe.send('Browser.close').catch(() => undefined);
      await pTimeout(this.exited, { milliseconds: KEEPING_GRACE_MS, message: false });
    }
    // Also after an orderly end: helper processes may be left in the group.
    if (this.pid !== undefined) killGroup(this.pid);
    if (!this.#exit) await pTimeout(this.exited, { milliseconds: KILL_GRACE_MS, message: false });
  }

  async #watchExit(): Promise<BrowserExit> {
    const exit = await new Promise<BrowserExit>((resolve) => {
      this.#child.once('exit', (code, signal) => resolve({ code, signal }));
      this.#child.once('error', (error) => {
        this.#said += error.message;
        resolve({ code: -1, signal: null });
      });
    });
    this.#exit = exit;
    return exit;
  }

  async #failed(): Promise<never> {
    const { code, signal } = await this.exited;
    await pTimeout(once(this.#stderr, 'end'), { milliseconds: 100, message: false });
    const said = this.#said.trim().split('\n').at(-1) ?? '';
    throw new EmulatorError('EMULATOR_START_FAILED', `Chromium ended with ${signal ?? code}: ${said}`);
  }
}

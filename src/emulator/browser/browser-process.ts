import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { EmulatorError } from '../../errors.ts';
import { CdpPipe } from './cdp-pipe.ts';
import { killGroup } from './kill-group.ts';
import type { Command } from './own-disk.ts';

/** How a Chromium ended: `code` 0 is an orderly end (`Browser.close`), anything else a crash. */
export interface BrowserExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** Where a Chromium's DevTools listen, for clients. */
export interface DevToolsAddress {
  port: number;
  path: string;
}

/** How long a Chromium may take to close in order before its process group is killed. */
const CLOSE_GRACE_MS = 1_500;
/** And how long when its profile is wanted: it writes that out as it closes. */
const KEEPING_GRACE_MS = 10_000;
const KILL_GRACE_MS = 3_000;
const STDERR_KEPT = 4_096;
const DEVTOOLS_LINE = /^DevTools listening on ws:\/\/[^:/]+:(\d+)(\/\S+)$/m;

/** One Chromium: a process group of its own, our pipe to it, and its end. */
export class BrowserProcess {
  readonly pipe: CdpPipe;
  /** Settles when the process is gone, however that came about. Never rejects. */
  readonly exited: Promise<BrowserExit>;
  readonly #child: ChildProcess;
  readonly #devtools: Promise<DevToolsAddress>;
  #stderr = '';
  #isReady = false;
  #exit: BrowserExit | undefined;
  #stopping: Promise<void> | undefined;

  constructor({ file, args, env }: Command) {
    this.#child = spawn(file, args, {
      env,
      // Its own process group: a Ctrl-C in the terminal is ours to handle, and the whole tree can be killed at once.
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    });
    const [, , , input, output] = this.#child.stdio;
    this.pipe = new CdpPipe(input as Writable, output as Readable);
    this.exited = this.#watchExit();
    this.#devtools = this.#watchStderr();
    this.#devtools.catch(() => undefined); // a probe has no DevTools port and never asks for one
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Resolves when Chromium answers on its pipe and listens for clients. */
  async ready(): Promise<DevToolsAddress> {
    const address = await this.#devtools;
    await this.pipe.send('Browser.getVersion');
    this.#isReady = true;
    return address;
  }

  /** Ends the process and everything it started, in bounded time; `keepsProfile` gives it more of that to close. */
  stop(keepsProfile = false): Promise<void> {
    this.#stopping ??= this.#stop(keepsProfile ? KEEPING_GRACE_MS : CLOSE_GRACE_MS);
    return this.#stopping;
  }

  async #stop(closeGraceMs: number): Promise<void> {
    // One that never answered would not hear it.
    if (!this.#exit && this.#isReady) {
      this.pipe.send('Browser.close').catch(() => undefined);
      await Promise.race([this.exited, delay(closeGraceMs, undefined, { ref: false })]);
    }
    // Also after an orderly end: helper processes may be left in the group.
    if (this.pid !== undefined) killGroup(this.pid);
    if (!this.#exit) await Promise.race([this.exited, delay(KILL_GRACE_MS, undefined, { ref: false })]);
  }

  async #watchExit(): Promise<BrowserExit> {
    const exit = await new Promise<BrowserExit>((resolve) => {
      this.#child.once('exit', (code, signal) => resolve({ code, signal }));
      this.#child.once('error', (error) => {
        this.#stderr += error.message;
        resolve({ code: -1, signal: null });
      });
    });
    this.#exit = exit;
    return exit;
  }

  async #watchStderr(): Promise<DevToolsAddress> {
    const stderr = this.#child.stderr as Readable;
    stderr.setEncoding('utf8');
    const found = new Promise<DevToolsAddress>((resolve) => {
      stderr.on('data', (text: string) => {
        this.#stderr = (this.#stderr + text).slice(-STDERR_KEPT);
        const match = DEVTOOLS_LINE.exec(this.#stderr);
        if (match?.[1] && match[2]) resolve({ port: Number(match[1]), path: match[2] });
      });
    });
    const failed = this.exited.then(async ({ code, signal }) => {
      await Promise.race([once(stderr, 'end'), delay(100, undefined, { ref: false })]);
      const said = this.#stderr.trim().split('\n').at(-1) ?? '';
      throw new EmulatorError('EMULATOR_START_FAILED', `Chromium ended with ${signal ?? code}: ${said}`);
    });
    return Promise.race([found, failed]);
  }
}

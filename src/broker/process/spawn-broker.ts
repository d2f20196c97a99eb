import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { distFile } from '../../common/dist-file.ts';

/**
 * Starts the broker's process. Imports next to nothing: every process that loads a wrapped config loads this file, and only
 * Playwright's runner uses it.
 */

/** It waits more than it works: memory before speed. */
const SMALL_HEAP = ['--optimize-for-size', '--max-semi-space-size=1'];

/** A process for a run that is to come, and what it was started with. */
interface EarlyBroker {
  child: ChildProcess;
  environment: string;
}

const KEY = Symbol.for('poolwright.early-broker');
/** On `globalThis`, because config and global setup may load in different module systems. */
const holder = globalThis as { [KEY]?: EarlyBroker };

/** A broker's process, which waits for its configuration: the one that was started early, else a new one. */
export function spawnBroker(): ChildProcess {
  const early = holder[KEY];
  delete holder[KEY];
  if (!early) return spawnProcess();
  const { child, environment } = early;
  if (child.exitCode === null && child.signalCode === null && environment === environmentNow()) {
    keepProcess(child);
    return child;
  }
  child.stdin?.end();
  return spawnProcess();
}

/**
 * Starts a process that {@link spawnBroker} will take: while Playwright loads the rest of itself, it loads what it needs. It
 * keeps no process alive, and ends without a word when this one does.
 */
export function spawnBrokerEarly(): void {
  if (holder[KEY]) return; // the config is read a second time
  const child = spawnProcess();
  // The run tries again, and says why it fails.
  child.on('error', () => undefined);
  child.stdin?.on('error', () => undefined);
  letProcessEnd(child);
  holder[KEY] = { child, environment: environmentNow() };
}

/** No run needs the one that was started early. */
export function dropEarlyBroker(): void {
  holder[KEY]?.child.stdin?.end();
  delete holder[KEY];
}

/** A script that has given its browsers back ends, and its broker with it: no handle of the broker's keeps it. */
export function letProcessEnd(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdin, child.stdout]) if (stream instanceof Socket) stream.unref();
}

function keepProcess(child: ChildProcess): void {
  child.ref();
  for (const stream of [child.stdin, child.stdout]) if (stream instanceof Socket) stream.ref();
}

function spawnProcess(): ChildProcess {
  const { NODE_OPTIONS: _ours, ...env } = process.env; // a debugger or loader of the run is not the broker's
  return spawn(process.execPath, [...SMALL_HEAP, distFile('broker-main.js')], {
    detached: true, // out of the terminal's process group: Ctrl-C must not take it before the browsers
    stdio: ['pipe', 'pipe', 'inherit'],
    windowsHide: true,
    env,
  });
}

/** What a process would be started with; Playwright sets variables of its own meanwhile. */
function environmentNow(): string {
  return JSON.stringify(Object.entries(process.env).filter(([name]) => !/^(PLAYWRIGHT|PW)_?/.test(name)));
}

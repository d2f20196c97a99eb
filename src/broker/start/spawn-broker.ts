import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { distFile } from '../../common/dist-file.ts';

/**
 * Starts the broker's process. Imports almost nothing: every process that loads a wrapped config loads this file, but
 * only Playwright's runner uses it.
 */

/** A process for a future run, and the environment it was started with. */
interface EarlyBroker {
  child: ChildProcess;
  environment: string;
}

const KEY = Symbol.for('poolwright.early-broker');
/** On `globalThis`, because config and global setup may load in different module systems. */
const holder = globalThis as { [KEY]?: EarlyBroker };

/** Returns a broker's process that waits for its configuration: the one started early, otherwise a new one. */
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
 * Starts a process for {@link spawnBroker}: it loads its modules while Playwright loads the rest of itself. It does not
 * keep this process alive, and exits silently with it.
 */
export function spawnBrokerEarly(): void {
  if (holder[KEY]) return; // the config is read a second time
  const child = spawnProcess();
  // The run tries again and reports the failure.
  child.on('error', () => undefined);
  child.stdin?.on('error', () => undefined);
  letProcessEnd(child);
  holder[KEY] = { child, environment: environmentNow() };
}

/** Ends the process that was started early, because no run needs it. */
export function dropEarlyBroker(): void {
  holder[KEY]?.child.stdin?.end();
  delete holder[KEY];
}

/**
 * Lets a script exit, and its broker with it, once its browsers are given back: no handle of the broker keeps it alive.
 */
export function letProcessEnd(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdin, child.stdout]) if (stream instanceof Socket) stream.unref();
}

function keepProcess(child: ChildProcess): void {
  child.ref();
  for (const stream of [child.stdin, child.stdout]) if (stream instanceof Socket) stream.ref();
}

function spawnProcess(): ChildProcess {
  const { NODE_OPTIONS: _ours, ...env } = process.env; // a debugger or loader of the run is not for the broker
  // No flags for V8: with any, Node compiles its own modules again instead of reading them from its cache.
  return spawn(process.execPath, [distFile('broker-main.js')], {
    detached: true, // outside the terminal's process group: Ctrl-C must not end it before the browsers
    stdio: ['pipe', 'pipe', 'inherit'],
    windowsHide: true,
    env,
  });
}

/** The environment for a new process, without the variables that Playwright sets in the meantime. */
function environmentNow(): string {
  return JSON.stringify(Object.entries(process.env).filter(([name]) => !/^(PLAYWRIGHT|PW)_?/.test(name)));
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Consumer } from './consumer.ts';

/** A running test runner or script. */
export interface RunningCommand {
  child: ChildProcess;
  /** Its working directory. */
  directory: string;
  /** Returns its output so far, of both streams, in whole lines. */
  output(): string;
  /** Resolves when the output matches; rejects if the run ends first. */
  printed(pattern: RegExp): Promise<void>;
  /** Resolves when the run is over and its streams are closed. */
  exit: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** For Node processes that load Playwright: saves time, see compile-cache.cjs. */
export const COMPILE_CACHE = `--require=${JSON.stringify(join(import.meta.dirname, 'compile-cache.cjs'))}`;

/**
 * Environment of a user's shell: without our variables and those of the Playwright run of these tests. Only the compile
 * cache is added, to save time (compile-cache.cjs).
 */
export function userEnvironment(extra: Record<string, string>): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) =>
      !/^(POOLWRIGHT_|TEST_|PW_|PLAYWRIGHT_|GITHUB_STEP_SUMMARY$|GITHUB_ACTIONS$|NODE_OPTIONS$|CI$|DEBUG$|FORCE_COLOR$|DISPLAY$|WAYLAND_DISPLAY$)/.test(
        name,
      ),
  );
  return {
    ...Object.fromEntries(own),
    NODE_OPTIONS: COMPILE_CACHE,
    PLAYWRIGHT_JSON_OUTPUT_NAME: 'report.json',
    NO_COLOR: '1',
    ...extra,
  };
}

/**
 * Starts Node in a consumer's directory, in a separate process group (so that it can receive Ctrl-C).
 * @param args for Node: a script and its arguments
 * @param within a command that runs it, for example `unshare`
 */
export function startCommand(
  consumer: Consumer,
  args: readonly string[],
  env: Record<string, string> = {},
  within: readonly string[] = [],
): RunningCommand {
  const node = process.env.TEST_NODE ?? process.execPath;
  const [command = node, ...rest] = [...within, node, ...args];
  const child = spawn(command, rest, {
    cwd: consumer.directory,
    env: userEnvironment(env),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return follow(child, consumer);
}

/** Runs Node until it ends. */
export async function runCommand(consumer: Consumer, args: readonly string[], env: Record<string, string> = {}) {
  const run = startCommand(consumer, args, env);
  const { code } = await run.exit;
  return { code, output: run.output() };
}

/** Follows a process's output until it ends. */
export function follow(child: ChildProcess, consumer: Consumer): RunningCommand {
  // Line by line: `list` writes a line in two steps, and the broker's output may come between them.
  let lines = '';
  const unfinished = ['', ''];
  const text = () => lines + unfinished.join('');
  const listeners = new Set<() => void>();
  for (const [index, stream] of [child.stdout, child.stderr].entries()) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      const seen = unfinished[index] + chunk;
      const end = seen.lastIndexOf('\n') + 1;
      lines += seen.slice(0, end);
      unfinished[index] = seen.slice(end);
      for (const listener of listeners) listener();
    });
  }
  const exit = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  const printed = async (pattern: RegExp) => {
    let listener = () => {};
    const matched = new Promise<void>((resolve) => {
      listener = () => pattern.test(text()) && resolve();
      listeners.add(listener);
      listener();
    });
    const ended = exit.then(() => {
      if (!pattern.test(text())) throw new Error(`The run ended without printing ${pattern}:\n${text()}`);
    });
    await Promise.race([matched, ended]);
    listeners.delete(listener);
  };
  return { child, directory: consumer.directory, output: text, printed, exit };
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Consumer } from './consumer.ts';

/** A test runner, or a script, that is running. */
export interface RunningCommand {
  child: ChildProcess;
  /** Where it runs. */
  folder: string;
  /** What it has printed so far, both streams, in whole lines of one or the other. */
  output(): string;
  /** Resolves when the output has matched; rejects when the run ends first. */
  printed(pattern: RegExp): Promise<void>;
  /** Resolves when the run is over and its streams are closed. */
  exit: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Environment of a user's shell: nothing of ours, and nothing of the Playwright run that these tests are. */
export function userEnvironment(extra: Record<string, string>): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) =>
      !/^(POOLWRIGHT_|TEST_|PW_|PLAYWRIGHT_|GITHUB_STEP_SUMMARY$|GITHUB_ACTIONS$|NODE_OPTIONS$|CI$|DEBUG$|FORCE_COLOR$)/.test(
        name,
      ),
  );
  return { ...Object.fromEntries(own), PLAYWRIGHT_JSON_OUTPUT_NAME: 'report.json', NO_COLOR: '1', ...extra };
}

/**
 * Starts Node in a consumer's folder, in a process group of its own (so that Ctrl-C can be sent to it).
 * @param args Node's: a script, and what it takes
 * @param within command that it is an argument of, `unshare` for example
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
    cwd: consumer.folder,
    env: userEnvironment(env),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return follow(child, consumer);
}

/** Runs Node to its end. */
export async function runCommand(consumer: Consumer, args: readonly string[], env: Record<string, string> = {}) {
  const run = startCommand(consumer, args, env);
  const { code } = await run.exit;
  return { code, output: run.output() };
}

/** Follows what a process prints, and its end. */
export function follow(child: ChildProcess, consumer: Consumer): RunningCommand {
  // Line by line: `list` writes a line and its end in two steps, and the broker's word may come between them.
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
  return { child, folder: consumer.folder, output: text, printed, exit };
}

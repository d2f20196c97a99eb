import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JSONReport, JSONReportSpec, JSONReportSuite, JSONReportTestResult } from '@playwright/test/reporter';
import type { Consumer } from './consumer.ts';

/** A `playwright test` that is running. */
export interface RunningPlaywright {
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

/** One test's result as the JSON report has it. */
export interface ReportedTest {
  title: string;
  project: string;
  results: JSONReportTestResult[];
  annotations: { type: string; description?: string }[];
}

/** Environment of a user's shell: nothing of ours, and nothing of the Playwright run that these tests are. */
function userEnvironment(extra: Record<string, string>): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) =>
      !/^(POOLWRIGHT_|TEST_|PW_|PLAYWRIGHT_|GITHUB_STEP_SUMMARY$|GITHUB_ACTIONS$|NODE_OPTIONS$|CI$|DEBUG$|FORCE_COLOR$)/.test(
        name,
      ),
  );
  return { ...Object.fromEntries(own), PLAYWRIGHT_JSON_OUTPUT_NAME: 'report.json', NO_COLOR: '1', ...extra };
}

/**
 * Starts `playwright test` in a consumer's folder, in a process group of its own (so that Ctrl-C can be sent to it).
 * @param within command that it is an argument of, `unshare` for example
 */
export function startPlaywright(
  consumer: Consumer,
  args: string[] = [],
  env: Record<string, string> = {},
  within: readonly string[] = [],
): RunningPlaywright {
  const node = process.env.TEST_NODE ?? process.execPath;
  const [command = node, ...rest] = [...within, node, consumer.playwrightCli, 'test', ...args];
  const child = spawn(command, rest, {
    cwd: consumer.folder,
    env: userEnvironment(env),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return follow(child, consumer);
}

/**
 * A `playwright test` on a terminal of this size; its output is what the terminal gets, `through` another command where
 * one is named. What is written to `child.stdin` is typed.
 */
export function startOnTerminal(
  consumer: Consumer,
  args: string[],
  env: Record<string, string>,
  { columns, rows, through }: { columns: number; rows: number; through?: string },
): RunningPlaywright {
  const command = [process.env.TEST_NODE ?? process.execPath, consumer.playwrightCli, 'test', ...args];
  const quoted = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  const line = `stty cols ${columns} rows ${rows}; ${through === undefined ? `exec ${quoted}` : `${quoted} | ${through}`}`;
  const { NO_COLOR: _none, ...environment } = userEnvironment(env);
  const child = spawn('script', ['--quiet', '--flush', '--return', '--command', line, '/dev/null'], {
    cwd: consumer.folder,
    env: { ...environment, TERM: 'xterm-256color', SHELL: '/bin/sh', ...env },
    detached: true,
  });
  return follow(child, consumer);
}

function follow(child: ChildProcess, consumer: Consumer): RunningPlaywright {
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

/** Runs `playwright test` to its end. */
export async function runPlaywright(consumer: Consumer, args: string[] = [], env: Record<string, string> = {}) {
  const run = startPlaywright(consumer, args, env);
  const { code } = await run.exit;
  return { code, output: run.output() };
}

/** The tests in the consumer's JSON report. */
export async function reportedTests(consumer: Consumer): Promise<ReportedTest[]> {
  const report: JSONReport = JSON.parse(await readFile(join(consumer.folder, 'report.json'), 'utf8'));
  const specs = (suite: JSONReportSuite): JSONReportSpec[] => [...suite.specs, ...(suite.suites ?? []).flatMap(specs)];
  return report.suites.flatMap(specs).flatMap((spec) =>
    spec.tests.map((test) => ({
      title: spec.title,
      project: test.projectName,
      results: test.results,
      annotations: test.annotations,
    })),
  );
}

/** The parsed `hosted-browser` attachments of a result. */
export function hostedAttachments(result: JSONReportTestResult | undefined): Record<string, unknown>[] {
  return (result?.attachments ?? [])
    .filter((attachment) => attachment.name === 'hosted-browser')
    .map((attachment) => JSON.parse(Buffer.from(attachment.body ?? '', 'base64').toString('utf8')));
}

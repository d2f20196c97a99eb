import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JSONReport, JSONReportSpec, JSONReportSuite, JSONReportTestResult } from '@playwright/test/reporter';
import { shellCommand } from '../run-cli.ts';
import type { Consumer } from './consumer.ts';
import { follow, type RunningCommand, startCommand, userEnvironment } from './run-command.ts';

/** One test's result in the JSON report. */
export interface ReportedTest {
  title: string;
  /** Relative to `testDir`. */
  file: string;
  project: string;
  results: JSONReportTestResult[];
  annotations: { type: string; description?: string }[];
}

/**
 * Starts `playwright test` in a consumer's directory, in a separate process group (so that it can receive Ctrl-C).
 * @param within a command that runs it, for example `unshare`
 */
export function startPlaywright(
  consumer: Consumer,
  args: string[] = [],
  env: Record<string, string> = {},
  within: readonly string[] = [],
): RunningCommand {
  return startCommand(consumer, [consumer.playwrightCli, 'test', ...args], env, within);
}

/**
 * Starts `playwright test` on a terminal of this size, through another command if `through` names one. Its output is
 * the terminal's. Text written to `child.stdin` is typed.
 */
export function startOnTerminal(
  consumer: Consumer,
  args: string[],
  env: Record<string, string>,
  { columns, rows, through }: { columns: number; rows: number; through?: string },
): RunningCommand {
  const command = [process.env.TEST_NODE ?? process.execPath, consumer.playwrightCli, 'test', ...args];
  const quoted = shellCommand(command);
  const line = `stty cols ${columns} rows ${rows}; ${through === undefined ? `exec ${quoted}` : `${quoted} | ${through}`}`;
  const { NO_COLOR: _none, ...environment } = userEnvironment(env);
  const child = spawn('script', ['--quiet', '--flush', '--return', '--command', line, '/dev/null'], {
    cwd: consumer.directory,
    env: { ...environment, TERM: 'xterm-256color', SHELL: '/bin/sh', ...env },
    detached: true,
  });
  return follow(child, consumer);
}

/** Runs `playwright test` until it ends. */
export async function runPlaywright(consumer: Consumer, args: string[] = [], env: Record<string, string> = {}) {
  const run = startPlaywright(consumer, args, env);
  const { code } = await run.exit;
  return { code, output: run.output() };
}

/** Returns the tests in the consumer's JSON report. */
export async function reportedTests(consumer: Consumer): Promise<ReportedTest[]> {
  const report: JSONReport = JSON.parse(await readFile(join(consumer.directory, 'report.json'), 'utf8'));
  const specs = (suite: JSONReportSuite): JSONReportSpec[] => [...suite.specs, ...(suite.suites ?? []).flatMap(specs)];
  return report.suites.flatMap(specs).flatMap((spec) =>
    spec.tests.map((test) => ({
      title: spec.title,
      file: spec.file,
      project: test.projectName,
      results: test.results,
      annotations: test.annotations,
    })),
  );
}

/** Returns the parsed `hosted-browser` attachments of a result. */
export function hostedAttachments(result: JSONReportTestResult | undefined): Record<string, unknown>[] {
  return (result?.attachments ?? [])
    .filter((attachment) => attachment.name === 'hosted-browser')
    .map((attachment) => JSON.parse(Buffer.from(attachment.body ?? '', 'base64').toString('utf8')));
}

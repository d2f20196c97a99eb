import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

export const CLI = resolve(import.meta.dirname, '../../dist/cli.js');

/** Returns a command for a shell: its words may contain spaces. */
export function shellCommand(words: readonly string[]): string {
  return words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
}

/** What a command waits for; printed after 3 s, so only on a busy machine. */
const PROGRESS = /^.* …\n/gm;

/** Runs `poolwright` with these arguments until it ends. Its `stderr` is without progress. */
export async function poolwright(args: string[], env: Record<string, string>, cwd?: string) {
  // Playwright's workers force colours on the processes that they start.
  const { FORCE_COLOR: _colors, ...own } = process.env;
  const run = promisify(execFile)(process.execPath, [CLI, ...args], { env: { ...own, ...env }, cwd });
  const { stdout, stderr, code } = await run.then((done) => ({ ...done, code: 0 })).catch((error) => error);
  return { stdout: String(stdout), stderr: String(stderr).replace(PROGRESS, ''), code: Number(code) };
}

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@playwright/test';
import { outOfReach } from '../../../bench/report/page.ts';

/** The bench runs; what it measures beside other tests is worth nothing, and nothing is said of it. */

async function bench(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/bench.mjs', ...args]);
  return stdout;
}

/** The first cells of the tables' rows. */
const rowsOf = (output: string) => [...output.matchAll(/^\| (.*?) +\|.*\d \|$/gm)].map(([, cell]) => cell);

test('bench: a real suite on a local launch and on sessions', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'poolwright-bench-'));
  try {
    const json = join(folder, 'results.json');
    const output = await bench('--rounds', '1', '--suite', 'one', '--side', 'local,session', '--json', json);
    expect(rowsOf(output)).toEqual(['local', 'poolwright, session']);
    const [entry] = JSON.parse(await readFile(json, 'utf8'));
    expect(entry).toMatchObject({ suite: 'one', rounds: 1, machine: { node: process.version } });
    expect(Object.keys(entry.samples)).toEqual(['local', 'session']);
    expect(entry.samples.session.seconds).toEqual([expect.any(Number)]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('bench: imports', async () => {
  const output = await bench('--rounds', '1', '--suite', 'imports');
  expect(rowsOf(output)).toContain("import 'poolwright', ESM");
  expect(rowsOf(output)).toContain("require('poolwright')");
});

test('bench: its README names every suite and side, and a wrong name is told', async () => {
  const [help, readme] = [await bench('--help'), await readFile('bench/README.md', 'utf8')];
  const suites = [...help.matchAll(/^ {2}(\S+) .*\(\d+ rounds\)$/gm)].map(([, name]) => name);
  const sides = /real runs: (.*)$/m.exec(help)?.[1]?.split(', ') ?? [];
  const rows = [...readme.matchAll(/^\| `(\S+)` \|/gm)].map(([, name]) => name);
  expect(rows.sort()).toEqual([...sides, ...suites].sort());
  await expect(bench('--rounds', '1', '--suite', 'nothing')).rejects.toThrow('--suite: there is no "nothing"');
});

test('bench: docs/performance.md ends with why some goals are out of reach, as the README has it', async () => {
  const reasons = outOfReach(await readFile('bench/README.md', 'utf8'));
  expect(reasons).toContain('**One test, cold**');
  expect(await readFile('docs/performance.md', 'utf8')).toContain(reasons);
});

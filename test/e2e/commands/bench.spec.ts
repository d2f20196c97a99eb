import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@playwright/test';
import { chosen } from '../../../bench/options.ts';
import { outOfReach } from '../../../bench/report/page.ts';
import { SIDES } from '../../../bench/runs/run-suite.ts';
import { SUITES } from '../../../bench/suites.ts';

/** The bench runs; what it measures beside other tests is worth nothing, and nothing is said of it. */

async function bench(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/bench.mjs', ...args]);
  return stdout;
}

/** The first cells of the tables' rows. */
const rowsOf = (output: string) => [...output.matchAll(/^\| (.*?) +\|.*\d \|$/gm)].map(([, cell]) => cell);

test('bench: a real suite on a local launch and on sessions, and one that imports', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'poolwright-bench-'));
  try {
    const json = join(folder, 'results.json');
    const output = await bench('--rounds', '1', '--suite', 'one,imports', '--side', 'local,session', '--json', json);
    const rows = rowsOf(output);
    for (const row of ['local', 'poolwright, session', "import 'poolwright', ESM", "require('poolwright')"]) {
      expect(rows).toContain(row);
    }
    const entries: { suite: string }[] = JSON.parse(await readFile(json, 'utf8'));
    expect(entries.map(({ suite }) => suite).sort()).toEqual(['imports', 'one']);
    const entry = entries.find(({ suite }) => suite === 'one');
    expect(entry).toMatchObject({ rounds: 1, machine: { node: process.version }, samples: { local: {}, session: {} } });
    expect(entry).toMatchObject({ samples: { session: { seconds: [expect.any(Number)] } } });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('bench: its README names every suite and side, and a wrong name is told', async () => {
  const readme = await readFile('bench/README.md', 'utf8');
  const rows = [...readme.matchAll(/^\| `(\S+)` \|/gm)].map(([, name]) => name);
  expect(rows.sort()).toEqual([...SIDES, ...SUITES].map(({ name }) => name).sort());
  expect(() => chosen(SUITES, ['nothing'], '--suite')).toThrow('--suite: there is no "nothing"');
});

test('bench: docs/performance.md ends with why some goals are out of reach, as the README has it', async () => {
  const reasons = outOfReach(await readFile('bench/README.md', 'utf8'));
  expect(reasons).toContain('**One test, cold**');
  expect(await readFile('docs/performance.md', 'utf8')).toContain(reasons);
});

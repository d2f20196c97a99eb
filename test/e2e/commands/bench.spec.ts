import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@playwright/test';
import { chosen } from '../../../bench/options.ts';
import type { Entry } from '../../../bench/report/history.ts';
import { performancePage, reasonOf } from '../../../bench/report/page.ts';
import { SIDES } from '../../../bench/runs/run-suite.ts';
import { SUITES } from '../../../bench/suites.ts';

/** Runs the benchmark. Its figures are meaningless while other tests run, so none is checked. */

async function bench(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/bench.mjs', ...args]);
  return stdout;
}

/** Returns the first cells of the tables' rows. */
const rowsOf = (output: string) => [...output.matchAll(/^\| (.*?) +\|.*\d \|$/gm)].map(([, cell]) => cell);

test('bench › measures a suite on a local launch and on sessions, and the import of the package @slow', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'poolwright-bench-'));
  try {
    const json = join(directory, 'results.json');
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
    await rm(directory, { recursive: true });
  }
});

test('bench › the README lists every suite and side, and an unknown suite is rejected', async () => {
  const readme = await readFile('bench/README.md', 'utf8');
  const rows = [...readme.matchAll(/^\| `(\S+)` \|/gm)].map(([, name]) => name);
  expect(rows.sort()).toEqual([...SIDES, ...SUITES].map(({ name }) => name).sort());
  expect(() => chosen(SUITES, ['nothing'], '--suite')).toThrow('--suite: there is no "nothing"');
});

test('bench › the page gives the reason below a missed goal, and none where all are met', () => {
  const suites = SUITES.slice(0, 2);
  const readme = `## Why goals are missed\n${suites.map(({ name }) => `\n- **\`${name}\`**: reason of ${name}`).join('')}\n`;
  const machine = {
    cores: 2,
    processor: 'p',
    memoryGigabytes: 1,
    system: 's',
    node: 'n',
    playwright: 'w',
    chromium: 'c',
  };
  const entryOf = (suite: string, isMet: boolean): [string, Entry] => [
    suite,
    {
      ...{ suite, at: '2026-01-01T00:00:00Z', commit: 'c', machine, rounds: 2, seed: 1, tables: [], samples: {} },
      goals: [{ text: 'goal', isMet }],
    },
  ];
  const page = performancePage(machine, suites, new Map(suites.map(({ name }, n) => entryOf(name, n === 0))), readme);
  const [, met = '', missed = ''] = page.split('\n## ');
  expect(met).toContain('- met: goal');
  expect(met).not.toContain('Why:');
  expect(missed).toContain(`- **missed**: goal\n\nWhy: reason of ${suites[1]?.name}\n`);
});

test('bench › the committed page gives the reason below each missed goal', async () => {
  const readme = await readFile('bench/README.md', 'utf8');
  const sections = (await readFile('bench/results/performance.md', 'utf8')).split('\n## ');
  for (const section of sections.filter((each) => each.includes('- **missed**'))) {
    const [, suite = ''] = /`--suite (\S+)`/.exec(section) ?? [];
    expect(reasonOf(readme, suite), suite).not.toBeNull();
    expect(section).toContain(`Why: ${reasonOf(readme, suite)}`);
  }
});

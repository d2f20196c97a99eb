import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Advice } from '../../../../../src/report/advise/advise.ts';
import { readCheckedRuns } from '../../../../support/unit/advise/checked-runs.ts';
import { expect, poolwright, test } from '../../../../support/unit/cli/command-line.ts';

/** `poolwright report advise` on the records of real runs. */

const runs = readCheckedRuns();
const recordOf = (workers: number, shards: number, n = 0) =>
  JSON.stringify(runs.find((run) => run.workers === workers && run.shards === shards)?.records[n]);

/** Writes these files into a separate directory of the test, and runs the command there. */
async function advise(files: Record<string, string>, ...args: string[]) {
  const directory = test.info().outputPath('suite');
  await mkdir(directory, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(`${directory}/${name}`), { recursive: true });
    await writeFile(`${directory}/${name}`, content);
  }
  return { directory, ...(await poolwright(['report', 'advise', ...args], {}, directory)) };
}

test('report advise › prints a table, a recommendation, and the cost of waits, retries and long files', async () => {
  const { code, stdout, stderr } = await advise({ 'test-results/poolwright/run.json': recordOf(2, 1) });
  expect(code, stderr).toBe(0);
  expect(stderr).toBe('');
  expect(stdout).toMatch(/^poolwright: 28 tests in 12 groups, from 1 run: \d+\.\d s with 2 workers$/m);
  expect(stdout).toMatch(/^ browsers +shards +workers each +time, median +time, p90 +browser-minutes *$/m);
  expect(stdout).toMatch(/^ 1 +1 +1 +\d/m);
  expect(stdout).toMatch(/^ Recommended: \d+ browsers, --workers=\d+/m);
  expect(stdout).toMatch(/Sessions \(\d+ recorded\): 1\.\d s from request to browser/);
  expect(stdout).toContain('1 failed try per run');
  expect(stdout).toMatch(
    /\[us\] us\/c\.spec\.ts: 28\.\d s for 4 tests in one worker, 10\.\d s of it "2 waits 10000 ms" in line \d+; from \d workers on, a run waits for it/,
  );
  expect(stdout).toContain('Based on one run: the 90th percentile includes how waits vary, but not how tests vary.');
  const again = await advise({}, 'test-results');
  expect(again.stdout).toBe(stdout);
});

test('report advise › recommends a row for --time, and exits 1 when no row is fast enough', async () => {
  const files = { 'runs/one-run.json': recordOf(1, 1), 'runs/deep/run.json': recordOf(4, 1) };
  const fits = await advise(files, 'runs', '--time', '10m', '--shards', '1');
  expect(fits.stdout).toContain('Recommended: 1 browser, --workers=1\n');
  expect(fits.code).toBe(0);
  const none = await advise(files, 'runs', '--time', '4s', '--json');
  expect(none.code).toBe(1);
  const { advice }: { advice: Advice } = JSON.parse(none.stdout);
  expect(advice.recommended?.fits).toBe(false);
  expect(advice.runs).toHaveLength(2);
  expect(advice.choices.map(({ shards }) => shards)).toEqual(expect.arrayContaining([1, 2, 4]));
  expect((await advise(files, 'runs', '--time', '4s')).stdout).toContain('No row ends within 4.0 s in 9 of 10 runs.');
});

test('report advise › combines the shards of a run, and adds a cost column when prices are given', async () => {
  const files = { 's1/run.json': recordOf(2, 2, 0), 's2/run.json': recordOf(2, 2, 1) };
  const both = await advise(
    files,
    's1/run.json',
    's2/run.json',
    '--cost',
    '5',
    '--price-per-hour',
    '36',
    '--shards',
    '2',
  );
  expect(both.code, both.stderr).toBe(0);
  expect(both.stdout).toMatch(/^poolwright: 28 tests .* with 2 workers in 2 shards$/m);
  expect(both.stdout).toMatch(/browser-minutes +cost *$/m);
  expect(both.stdout).toMatch(/--workers=\d+ --shard=1\/2, and so on\n.*, cost \d/);
  const half = await advise(files, 's1');
  expect(half.code).toBe(2);
  expect(half.stderr.split('\n')).toEqual([
    'poolwright: skipped s1/run.json: shard 2 of 2 of its run is missing',
    'poolwright: the files contain no complete run. A run writes its record to <outputDir>/poolwright/run.json. [OPTIONS_INVALID]',
    '',
  ]);
});

test('report advise › names the files that it skips, and uses the others', async () => {
  const record = recordOf(1, 1);
  const cut = JSON.stringify({ ...JSON.parse(record), runId: 'cut', endedAt: null });
  const files = {
    'good.json': record,
    'cut.json': cut,
    'next.json': record.replace('"schema":1', '"schema":2'),
    'empty/a.txt': '',
  };
  const some = await advise(files, 'good.json', 'cut.json', 'next.json', 'none.json', 'empty', 'good.json');
  expect(some.code).toBe(0);
  expect(some.stderr.trim().split('\n')).toEqual([
    'poolwright: skipped next.json: it has version 2, but this poolwright reads version 1',
    'poolwright: skipped none.json: the file does not exist',
    'poolwright: skipped empty: there is no run.json in this directory',
    'poolwright: skipped cut.json: its end is not recorded: the run crashed or is still running',
    'poolwright: skipped good.json: it is from the same run as good.json',
  ]);
  const none = await advise(files, 'cut.json', '--json');
  expect(none.code).toBe(2);
  expect(JSON.parse(none.stdout)).toMatchObject({
    error: { code: 'OPTIONS_INVALID', message: expect.stringContaining('no complete run') },
  });
});

test('report advise › rejects invalid options before it reads a file', async () => {
  const said = async (...args: string[]) => {
    const { code, stderr } = await advise({}, ...args);
    return `${code} ${stderr.split('\n')[0]}`;
  };
  expect(await said()).toContain('2 poolwright: there is no test-results/poolwright/run.json');
  expect(await said('x', '--time', 'soon')).toContain('2 error: option');
  expect(await said('x', '--time', '5')).toContain('It must be a time, such as 5m, 90s or 1h30m.');
  expect(await said('x', '--cost', '3')).toContain('2 poolwright: --cost needs --price-per-hour');
  expect(await said('x', '--browsers', '0')).toContain('2 poolwright: --browsers must be 1 or more, not 0');
  expect(await said('x', '--browsers', '2', '--time', '1m')).toContain(
    "2 error: option '--time <time>' cannot be used with option",
  );
});

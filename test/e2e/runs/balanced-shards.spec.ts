import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type RunRecord, runRecord } from '../../../src/record/run-record.ts';
import { ByTest, shownTest } from '../../../src/report/shards/test-tree.ts';
import type { Consumer } from '../../support/e2e/consumer.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { runPlaywright, startPlaywright } from '../../support/e2e/run-playwright.ts';
import { suite, wrappedConfig } from '../../support/e2e/suites.ts';
import { fullLength } from '../../support/property-runs.ts';
import { poolwright } from '../../support/unit/cli/command-line.ts';

/** Shards of a real suite that are balanced by timings: each test runs in one of them. */

test.use({ browsers: 'stub' });

const FILES = {
  'playwright.config.ts': wrappedConfig(
    '{}',
    `workers: 1, outputDir: process.env.OUTPUT_DIR, projects: [
      { name: 'setup', testMatch: 'global.setup.ts', teardown: 'clean' },
      { name: 'clean', testMatch: 'global.clean.ts' },
      { name: 'main', dependencies: ['setup'] },
      { name: 'parallel', fullyParallel: true, testMatch: ['b.spec.ts', 'c.spec.ts'] },
      { name: 'again', repeatEach: 2, testMatch: 'a.spec.ts' },
    ],`,
  ),
  'tests/global.setup.ts': suite(`test('sets up', () => {});`),
  'tests/global.clean.ts': suite(`test('cleans', () => {});`),
  'tests/a.spec.ts': suite(`
    test('one', async () => await new Promise((resolve) => setTimeout(resolve, 300)));
    (process.env.ONLY ? test.only : test)('two', () => expect(process.env.FAILS).toBeUndefined());
    test.skip('off', () => {});`),
  'tests/b.spec.ts': suite(`
    test.describe.serial('steps', () => { test('first', () => {}); test('second', () => {}); });
    test.describe.parallel('any', () => { test('x', () => {}); test('y', () => {}); });`),
  'tests/c.spec.ts': suite(`
    test.beforeAll(() => {});
    for (const n of [1, 2, 3, 4]) test('c ' + n, () => {});
    test.describe('in order', () => { test.describe.configure({ mode: 'default' }); test('d', () => {}); test('e', () => {}); });`),
};

/** Of main: 3 + 4 + 6, of parallel: 4 + 6, of again: 2 × 3. */
const TESTS = 29;

interface Sharded {
  total: number;
  /** Default: all. */
  only?: number;
  args?: string[];
  env?: Record<string, string>;
  code?: number;
}

/** Runs shards at the same time, each in another directory, and returns their records. */
async function runShards(
  consumer: Consumer,
  { total, only, args = [], env = {}, code = 0 }: Sharded,
): Promise<RunRecord[]> {
  const shards = only === undefined ? Array.from({ length: total }, (_, n) => n + 1) : [only];
  const runs = shards.map(async (shard) => {
    const own = { OUTPUT_DIR: `of-${total}/${shard}`, CI: '1' };
    const run = await runPlaywright(consumer, [`--shard=${shard}/${total}`, ...args], { ...env, ...own });
    const record = runRecord.parse(JSON.parse(await consumer.read(`of-${total}/${shard}/poolwright/run.json`)));
    return { run, record };
  });
  const ended = await Promise.all(runs);
  expect(Math.max(...ended.map(({ run }) => run.code ?? 1)), ended.map(({ run }) => run.output).join('\n')).toBe(code);
  return ended.map(({ record }) => record);
}

/** Merges the shards strictly. */
async function merge(consumer: Consumer, total: number) {
  const files = Array.from({ length: total }, (_, n) => `of-${total}/${n + 1}/poolwright/run.json`);
  const args = ['report', 'merge', ...files, '--strict', '--json', '--output', `of-${total}/all`];
  const { code, stdout } = await poolwright(args, {}, consumer.directory);
  return { code, problems: JSON.parse(stdout).problems };
}

/** The tests that each shard has run. */
function ranIn(records: readonly RunRecord[]): string[][] {
  return records.map(({ partition }) =>
    [...ByTest.of(partition?.tests ?? {}).entries()].flatMap(([id, ms]) => (ms === null ? [] : shownTest(id))).sort(),
  );
}

/** More numbers of shards, with every kind of suite: test/unit/report/shards/shard-suite.spec.ts. */
const TOTALS = fullLength([2, 4], [2]);

test('balanced shards › run each test once', { tag: ['@versions', '@long'] }, async ({ newConsumer, service }) => {
  test.setTimeout(480_000);
  const consumer = await newConsumer();
  await consumer.write(FILES);
  const { env } = service;
  let isBalanced = false;
  /** What the second of two shards has run. */
  let ofSecond: NonNullable<RunRecord['partition']>['tests'] = {};

  await test.step('without timings, and without --shard: timings are written', async () => {
    const run = await runPlaywright(consumer, [], { ...env, OUTPUT_DIR: 'whole' });
    expect(run.code, run.output).toBe(0);
    const text = await consumer.read('whole/poolwright/timings.json');
    expect(text).not.toContain(consumer.directory);
    await consumer.write({ 'poolwright-timings.json': text });
  });

  for (const total of TOTALS) {
    const records = await runShards(consumer, { total, env });
    const ran = ranIn(records);
    expect(new Set(ran.flat()).size).toBe(TESTS);
    expect(ran.flat()).toHaveLength(TESTS);
    if (total === 2) ofSecond = records[1]?.partition?.tests ?? {};
    expect(new Set(records.map(({ partition }) => partition?.hash)).size).toBe(1);
    const [, minor] = records[0]?.partition?.playwright.split('.') ?? [];
    isBalanced = Number(minor) >= 62;
    expect(records[0]?.partition?.hash !== null).toBe(isBalanced);
    expect(await merge(consumer, total)).toEqual({ code: 0, problems: [] });
    for (const tests of ran) {
      const steps = tests.filter((each) => each.includes('[parallel] › tests/b.spec.ts › steps'));
      expect([0, 2]).toContain(steps.length);
    }
  }
  const merged = JSON.parse(await consumer.read(`of-${Math.max(...TOTALS)}/all/timings.json`));
  // The emulator's plan.
  expect(merged.browsers).toBe(10);
  expect(merged.projects.main['tests/a.spec.ts'].one).toHaveLength(2);
  expect(merged.projects.setup['tests/global.setup.ts']['sets up'].length).toBeGreaterThanOrEqual(2);

  if (!isBalanced) return;
  await test.step('a shard with other timings: the tests that ran twice or never are named', async () => {
    // The longest piece goes to the first shard: none runs it now.
    const ran = [...ByTest.of(ofSecond).entries()].filter(([, ms]) => ms !== null).map(([key]) => key);
    const moved = ran.find(({ title }) => !title.includes('(repeat'));
    if (!moved) throw new Error(`nothing to move: ${JSON.stringify(ofSecond)}`);
    const timings = ByTest.of(merged.projects);
    timings.set(moved, [90_000]);
    await consumer.write({ 'poolwright-timings.json': JSON.stringify({ ...merged, projects: timings.tree }) });
    await runShards(consumer, { total: 2, only: 2, env });
    const { code, problems } = await merge(consumer, 2);
    expect(code).toBe(1);
    expect(problems).toContain(`ran in no shard: ${shownTest(moved)}`);
    expect(problems.at(-1)).toBe('shards 1, 2 were made differently: they had different timings');
  });
});

test('balanced shards › with --grep, --project, test.only and --last-failed', { tag: '@slow' }, async ({
  newConsumer,
  service,
}) => {
  test.setTimeout(480_000);
  const consumer = await newConsumer();
  await consumer.write({
    ...FILES,
    'poolwright-timings.json': JSON.stringify({
      schema: 1,
      workers: 1,
      projects: { main: { 'tests/a.spec.ts': { one: [300] } } },
    }),
  });
  const { env } = service;
  const selected = ['--project=main', '--project=again', '--grep=one|two'];
  const filtered = ranIn(await runShards(consumer, { total: 2, args: selected, env }));
  expect(filtered.flat()).toHaveLength(6);
  expect(new Set(filtered.flat()).size).toBe(6);
  expect(await merge(consumer, 2)).toEqual({ code: 0, problems: [] });

  // Setup and teardown run in the shards above.
  const only = ranIn(await runShards(consumer, { total: 2, args: ['--no-deps'], env: { ...env, ONLY: '1' } }));
  expect(only.flat().sort()).toEqual(
    ['two', 'two (repeat 2)']
      .map((each) => `[again] › tests/a.spec.ts › ${each}`)
      .concat('[main] › tests/a.spec.ts › two'),
  );

  const args = ['--no-deps', '--project=main', '--grep=one|two'];
  await runShards(consumer, { total: 2, args, env: { ...env, FAILS: '1' }, code: 1 });
  const again = await runShards(consumer, { total: 2, args: [...args, '--last-failed'], env });
  expect(ranIn(again).flat()).toEqual(['[main] › tests/a.spec.ts › two']);
  expect(again.map(({ partition }) => partition?.complete)).toEqual([false, false]);
  expect(await merge(consumer, 2)).toEqual({ code: 0, problems: [] });
});

test('balanced shards › a named file that is missing fails before a browser is requested', async ({
  startSuite,
  service,
}) => {
  const run = await startSuite({
    options: `{ shards: { timings: 'none.json' } }`,
    tests: `test('opens', async ({ page }) => {}); test('opens, too', async ({ page }) => {});`,
    args: ['--shard=1/2'],
  });
  expect((await run.exit).code).toBe(1);
  expect(run.output()).toContain('`shards.timings` names none.json, but the file does not exist');
  expect(await service.running()).toEqual([]);
  expect(existsSync(join(run.consumer.directory, 'test-results/poolwright/timings.json'))).toBe(false);
});

/** Two shards by files: the long one, and the others. */
const TWO = {
  'playwright.config.ts': wrappedConfig('{}', 'workers: 1, fullyParallel: true,'),
  ...Object.fromEntries(
    ['a', 'b', 'c', 'd'].map((name) => [`tests/${name}.spec.ts`, suite(`test('${name}', () => {});`)]),
  ),
  'poolwright-timings.json': JSON.stringify({
    schema: 1,
    workers: 1,
    projects: {
      '': Object.fromEntries(
        ['a', 'b', 'c', 'd'].map((n) => [`tests/${n}.spec.ts`, { [n]: [n === 'a' ? 9_000 : 100] }]),
      ),
    },
  }),
};

test('balanced shards › in --list and --only-changed, and with another reporter that makes shards', async ({
  newConsumer,
  service,
}) => {
  const consumer = await newConsumer();
  await consumer.write({
    ...TWO,
    'other.cjs': 'module.exports = class { preprocess({ testRun }) { testRun.skipSharding?.(); } };',
    '.gitignore': 'node_modules',
  });
  const listed = async (...args: string[]) => {
    const { code, output } = await runPlaywright(consumer, ['--list', ...args], service.env);
    expect(code, output).toBe(0);
    return [...output.matchAll(/› (\w)$/gm)].map(([, name]) => name);
  };
  expect(await listed('--shard=1/2')).toEqual(['a']);
  expect(await listed('--shard=2/2')).toEqual(['b', 'c', 'd']);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=n@e.test', ...args], { cwd: consumer.directory });
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message=suite');
  const changed = Object.entries(TWO).filter(([name]) => /[acd]\.spec\.ts$/.test(name));
  await consumer.write(Object.fromEntries(changed.map(([name, text]) => [name, `${text}\n`])));
  expect(await listed('--only-changed', '--shard=1/2')).toEqual(['a']);
  expect(await listed('--only-changed', '--shard=2/2')).toEqual(['c', 'd']);

  const others = await runPlaywright(
    consumer,
    ['--shard=1/2', '--reporter=line,./other.cjs,poolwright/reporter'],
    service.env,
  );
  expect(others.code, others.output).toBe(0);
  expect(others.output).toContain('another reporter makes the shards');
  expect(others.output).toContain('4 passed');
});

test('balanced shards › UI mode runs all that it shows', { tag: '@slow' }, async ({ newConsumer, service, page }) => {
  const consumer = await newConsumer();
  await consumer.write(TWO);
  const run = startPlaywright(consumer, ['--ui-host=127.0.0.1', '--ui-port=0', '--shard=2/2'], service.env);
  try {
    await run.printed(/http:\/\/\S+/);
    await page.goto(/http:\/\/\S+/.exec(run.output())?.[0] ?? '');
    await page.getByTitle(/^Run all/).click();
    await expect(page.getByTestId('status-line')).toContainText('2 passed');
  } finally {
    process.kill(-(run.child.pid ?? 0), 'SIGINT');
    await run.exit;
  }
});

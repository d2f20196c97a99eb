import { appendFile, cp } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { jestConfig, runJest, startJest, testsOf } from '../../support/e2e/jest-runs.ts';
import { leftProcesses } from '../../support/e2e/process-tree.ts';
import { recordOf } from '../../support/e2e/runner-records.ts';

/**
 * `poolwright/jest` beyond the behaviour of all runners: globals, Jest's kinds of tests, and its own ways to run and to
 * end.
 */

const root = resolve(import.meta.dirname, '../../..');

const GOES = `test('goes', async () => { await page.goto(process.env.SITE_URL); });`;
const UNIT = `const { add } = require('./lib'); test('adds', () => { expect(add(1, 2)).toBe(3); });`;
const LIB = { 'lib.js': 'exports.add = (a, b) => a + b;' };

test('jest › shares one page per file or test, and records retries, groups, lines and projects', async ({
  newConsumer,
  service,
  site,
}) => {
  const consumer = await newConsumer();
  await consumer.write({
    ...jestConfig({ displayName: 'shop' }),
    'a.test.js': `jest.retryTimes(1);
beforeAll(async () => { await page.goto(process.env.SITE_URL); });
let tries = 0;
describe('group', () => {
  test('flaky', async () => { expect(await page.title()).not.toBe(''); if (tries++ === 0) throw new Error('cost: $& $1'); });
  test.failing('expected', async () => { await page.title(); throw new Error('as said'); });
});
test('late', async () => { await page.evaluate(() => new Promise(() => undefined)); }, 300);
test('no browser', () => {});
test.skip('skipped', () => {});
describe('hook', () => {
  beforeAll(async () => { await page.title(); throw new Error('the hook broke'); });
  test('one', () => {});
  test('two', () => {});
});
test('types', () => { expect(context).toBe(page.browserContext()); expect(hostedSession.sessionId).toMatch(/./); });`,
    'isolated.test.js': `/** @jest-environment-options {"poolwright": {"isolate": "test"}} */
const seen = [];
beforeEach(async () => { seen.push(page); await page.goto(process.env.SITE_URL); });
test('one', async () => { await page.evaluate(() => { document.cookie = 'one=1'; }); });
test('two', async () => {
  expect(page).not.toBe(seen[0]);
  expect(seen[0].isClosed()).toBe(true);
  expect(await page.evaluate(() => document.cookie)).not.toContain('one');
});
afterAll(async () => { expect(await page.evaluate(() => document.cookie)).toContain('visited'); });`,
    'own-page.test.js': `test('own', async () => { page = await context.newPage(); await page.goto(process.env.SITE_URL); });
test('still', async () => { expect(page.url()).toContain(process.env.SITE_URL); });`,
  });
  const run = await runJest(consumer, ['-i', '--detectOpenHandles'], { ...service.env, SITE_URL: site.url });
  expect(run.output).not.toMatch(/open handle|did not exit/);
  for (const file of ['isolated', 'own-page']) expect(run.output).toContain(`PASS shop ./${file}.test.js`);
  expect(run.code, run.output).toBe(1);
  const record = await recordOf(consumer);
  const first = testsOf(record).filter(({ file }) => file === 'a.test.js');
  const told = first.map(({ title, line, retry, status, ok, project }) => [title, line, retry, status, ok, project]);
  expect(new Set(told)).toEqual(
    new Set([
      ['group › flaky', 5, 0, 'failed', false, 'shop'],
      ['group › flaky', 5, 1, 'passed', true, 'shop'],
      ['group › expected', 6, 0, 'passed', true, 'shop'],
      ['late', 8, 0, 'timedOut', false, 'shop'],
      ['late', 8, 1, 'timedOut', false, 'shop'],
      ['hook › one', 13, 0, 'failed', false, 'shop'],
      ['hook › two', 14, 0, 'failed', false, 'shop'],
      ['types', 16, 0, 'passed', true, 'shop'],
    ]),
  );
  expect(new Set(first.map(({ id }) => id)).size).toBe(6);
  const [session] = record.sessions;
  // Each printed failure has the note once; the failure of the hook appears for two tests.
  const note = `hosted browser: session ${session?.sessionId}`;
  const failures = run.output.split('●').filter((part) => /^ (late|hook › (one|two))\n/.test(part));
  expect(failures.map((failure) => failure.split(note).length - 1)).toEqual([1, 1, 1]);
  expect(record.sessions).toHaveLength(1);
});

test('jest › runs the example, without open handles @slow', async ({ newConsumer, service }) => {
  const consumer = await newConsumer();
  for (const name of ['puppeteer-jest', 'site'])
    await cp(join(root, 'examples', name), join(consumer.directory, 'examples', name), {
      recursive: true,
      filter: (path) => !path.includes('test-results'),
    });
  const run = await runJest(
    consumer,
    ['--detectOpenHandles', '-c', 'examples/puppeteer-jest/jest.config.cjs'],
    service.env,
  );
  expect(run.code, run.output).toBe(0);
  expect(run.output).not.toMatch(/open handle|did not exit/);
  const record = await recordOf(consumer, 'examples/puppeteer-jest/test-results/poolwright/run.json');
  expect(testsOf(record).map(({ title }) => title)).toHaveLength(4);
  expect(await service.running()).toEqual([]);
});

test.describe('where no page matters', () => {
  test.use({ browsers: 'stub' });

  test('jest › creates no more sessions than files that use a browser at once', async ({ newConsumer, service }) => {
    const consumer = await newConsumer();
    await consumer.write({ ...jestConfig(), ...LIB, 'unit.test.js': UNIT, 'other.test.js': UNIT });
    const units = await runJest(consumer, [], service.env);
    expect(units.code, units.output).toBe(0);
    expect(await service.allSessions()).toBe(0);
    await consumer.write({
      'helper.js': `exports.open = () => page.goto(process.env.SITE_URL);`,
      ...Object.fromEntries(
        ['a', 'b', 'c', 'd'].map((name) => [
          `${name}.test.js`,
          `const { open } = require('./helper'); test('opens', async () => { await open(); });`,
        ]),
      ),
    });
    const run = await runJest(consumer, ['--maxWorkers=2'], { ...service.env, SITE_URL: 'about:blank' });
    expect(run.code, run.output).toBe(0);
    const { sessions } = await recordOf(consumer);
    expect(sessions.length).toBeLessThanOrEqual(2);
    expect(sessions.filter(({ testsServed }) => testsServed === 0)).toEqual([]);
    expect(testsOf(await recordOf(consumer))).toHaveLength(4);
  });

  test('jest › supports worker threads, shards, and --json when the budget is exceeded', async ({
    newConsumer,
    service,
  }) => {
    const consumer = await newConsumer();
    await consumer.write({
      ...jestConfig({ workerThreads: true, maxWorkers: 2 }),
      'a.test.js': GOES,
      'b.test.js': GOES,
      'c.test.js': GOES,
      'poolwright.config.mjs': 'export default { budget: { sessions: 0 } };',
    });
    const run = startJest(consumer, ['--json', '--shard=1/1'], { ...service.env, SITE_URL: 'about:blank' });
    let printed = '';
    run.child.stdout?.on('data', (chunk) => {
      printed += chunk;
    });
    expect((await run.exit).code, run.output()).toBe(1);
    expect(JSON.parse(printed)).toMatchObject({ numPassedTests: 3, numFailedTests: 0 });
    expect(run.output()).toMatch(/budget exceeded: sessions is limited to 0/);
    expect((await recordOf(consumer)).shard).toEqual({ current: 1, total: 1 });
    expect(await service.running()).toEqual([]);
  });

  test('jest › ends the run with --bail', async ({ newConsumer, service }) => {
    const consumer = await newConsumer();
    await consumer.write({
      ...jestConfig(),
      'a.test.js': `test('fails', async () => { await page.goto(process.env.SITE_URL); expect(1).toBe(2); });`,
      'b.test.js': GOES,
    });
    const env = { ...service.env, SITE_URL: 'about:blank' };
    const bailed = await runJest(consumer, ['-i', '--bail', 'a.test', 'b.test'], env);
    expect(bailed.code, bailed.output).toBe(1);
    expect(bailed.output).toContain('test-results/poolwright/timeline.html');
    expect((await recordOf(consumer)).sessions).toMatchObject([{ endReason: 'run-ended', endConfirmed: true }]);
    expect(await service.running()).toEqual([]);
    expect(leftProcesses(consumer.directory)).toEqual([]);
  });

  test('jest --watchAll › keeps its browser between runs, and gives it back at the end', async ({
    newConsumer,
    service,
  }) => {
    const consumer = await newConsumer();
    await consumer.write({ ...jestConfig(), 'a.test.js': GOES });
    const run = startJest(consumer, ['--watchAll'], { ...service.env, SITE_URL: 'about:blank' });
    await run.printed(/Ran all test suites/);
    expect(await service.running()).toHaveLength(1);
    await appendFile(join(consumer.directory, 'a.test.js'), '\n// changed');
    await run.printed(/Ran all test suites[\s\S]*Ran all test suites/);
    expect(await service.allSessions()).toBe(1);
    run.child.kill('SIGINT');
    await run.exit;
    await expect.poll(() => service.running()).toEqual([]);
    await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
  });

  test("jest › names what to add when a user's globalSetup replaces ours", async ({ newConsumer, service }) => {
    const consumer = await newConsumer();
    const own = { globalSetup: './setup.js', globalTeardown: './teardown.mjs', reporters: ['default'] };
    await consumer.write({
      ...jestConfig(own),
      ...LIB,
      'a.test.js': GOES,
      'unit.test.js': UNIT,
      'setup.js': 'module.exports = async () => {};',
      'teardown.mjs': `import { teardown } from 'poolwright/jest'; export default (config) => teardown(config);`,
    });
    const env = { ...service.env, SITE_URL: 'about:blank' };
    const without = await runJest(consumer, [], env);
    expect(without.code).toBe(1);
    expect(without.output.match(/poolwright is not set up for this run/g), without.output).toHaveLength(1);
    expect(without.output).toContain('must call `setup` of poolwright/jest');
    expect(without.output).toContain('PASS ./unit.test.js');
    await consumer.write({
      'setup.js': `const { setup } = require('poolwright/jest'); module.exports = (config) => setup(config);`,
    });
    const withIt = await runJest(consumer, [], env);
    expect(withIt.code, withIt.output).toBe(0);
    expect(withIt.output).toContain('test-results/poolwright/timeline.html');
    const twice = { preset: 'poolwright/jest', testMatch: ['**/a.test.js'] };
    const { globalSetup } = own;
    await consumer.write({
      'jest.config.json': JSON.stringify({
        projects: [twice, { ...twice, globalSetup, testMatch: ['**/unit.test.js'] }],
      }),
    });
    const second = await runJest(consumer, [], env);
    expect(second.code).toBe(1);
    expect(second.output).toContain('poolwright was set up twice in this run');
    await consumer.write(jestConfig({ testEnvironmentOptions: { poolwright: { isolat: 'test' } } }));
    const misspelt = await runJest(consumer, [], env);
    expect(misspelt.code).toBe(1);
    expect(misspelt.output.match(/`testEnvironmentOptions\.poolwright\.isolat` is an unknown option/g)).toHaveLength(1);
    expect(await service.allSessions()).toBe(1);
  });
});

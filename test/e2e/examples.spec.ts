import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { RunRecord } from 'poolwright/reporter';
import type { Consumer } from '../support/e2e/consumer.ts';
import { copyDirectory, copyExample, importedBy, readExample, runTestScript } from '../support/e2e/examples.ts';
import { BROWSERS, test as base, expect } from '../support/e2e/fixtures.ts';
import { leftProcesses } from '../support/e2e/process-tree.ts';
import { runPlaywright } from '../support/e2e/run-playwright.ts';
import { recordOf } from '../support/e2e/runner-records.ts';
import { startService } from '../support/e2e/service.ts';
import { freePort } from '../support/free-port.ts';
import { localChromium } from '../support/local-chromium.ts';

/**
 * Runs each of examples/ in a separate directory, with the packed files, by the script that its README starts. Each
 * time, two programs run that no other test is like, and the first suite is loaded. The others differ from other
 * end-to-end tests only in their pages: they are `@slow`, and `npm run check` checks their types and imports.
 */

const root = resolve(import.meta.dirname, '../..');
/** Examples that other specs run, and the site that some of them use. */
const ELSEWHERE = ['ci', 'node_modules', 'relay', 'site', 'puppeteer-jest', 'puppeteer-mocha', 'puppeteer-node-test'];
const NAMES = [
  'basic',
  'budget',
  'countries-and-types',
  'dev-server',
  'extension',
  'faulty-service',
  'own-browsers',
  'profile-login',
  'puppeteer-script',
  'puppeteer-vitest',
  'session-fixture',
  'sharded-pool',
];

interface Fixtures {
  /** Creates a user's copy of an example; after the test, no process started there may be left. */
  example(name: string): Promise<Consumer>;
  /** Environment with a port for the example's site. */
  port: { PORT: string; SITE_PORT: string };
}

const test = base.extend<Fixtures>({
  // Like hosted browsers, its browsers cannot reach this machine's loopback.
  service: async ({ browsers }, use) => {
    const service = await startService({ allowLoopback: false, ...(await BROWSERS[browsers]()) });
    await use(service);
    expect(await service.running()).toEqual([]);
    await service.stop();
  },
  example: async ({ newConsumer }, use) => {
    const directories: string[] = [];
    await use(async (name) => {
      const consumer = await copyExample(name, await newConsumer());
      directories.push(consumer.directory);
      return consumer;
    });
    for (const directory of directories) {
      await expect.poll(() => leftProcesses(directory)).toEqual([]);
    }
  },
  port: async ({}, use) => {
    const port = String(await freePort());
    await use({ PORT: port, SITE_PORT: port });
  },
});

/** Returns the browsers that a run used: a line per session, `type by project: tests`. */
function used({ sessions }: RunRecord): string[] {
  return sessions.map(({ type, project, tests }) => `${type} by ${project}: ${tests.length}`).sort();
}

test('every example › has a script, all its imports, and the versions tested here', async () => {
  const directories = readdirSync(resolve(root, 'examples'), { withFileTypes: true }).filter((each) =>
    each.isDirectory(),
  );
  expect(directories.map(({ name }) => name).filter((name) => !ELSEWHERE.includes(name))).toEqual(NAMES);
  const index = readFileSync(resolve(root, 'examples/README.md'), 'utf8');
  const { version, devDependencies } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8'));
  const tested: Record<string, string> = { ...devDependencies, poolwright: `^${version}` };
  for (const name of [...NAMES, 'site']) {
    const { dependencies } = await readExample(name);
    expect(Object.keys(dependencies), name).toEqual(expect.arrayContaining(await importedBy(name)));
    for (const [dependency, range] of Object.entries(dependencies)) {
      expect(range, `${name}: ${dependency}`).toBe(tested[dependency]);
    }
    expect(index).toContain(`[${name}](${name})`);
  }
  for (const name of NAMES) {
    const readme = readFileSync(resolve(root, 'examples', name, 'README.md'), 'utf8');
    expect(readme).toContain('npm install');
    expect(readme).toContain('npm test');
    expect(readme.trimEnd().split('\n').length, name).toBeLessThanOrEqual(12);
  }
});

test('basic › is a suite that loads', async ({ example, port }) => {
  const consumer = await example('basic');
  const { code, output } = await runPlaywright(consumer, ['--list'], port);
  expect(code, output).toBe(0);
  expect(output).toContain('Total: 32 tests');
});

test('basic › uses a pool made for the run, and sessions, on the embedded emulator @slow', async ({
  example,
  port,
}) => {
  const consumer = await example('basic');
  await copyDirectory('site', join(consumer.directory, '../site'));
  // On the lightest Chromium, whatever the type; `npm run demo` uses each type's own.
  const env = { ...port, POOLWRIGHT_CHROMIUM: await localChromium() };
  const run = await runTestScript(consumer, env, ['--workers=2']);
  expect(run.code, run.output).toBe(0);
  const record = await recordOf(consumer);
  expect(record).toMatchObject({ runner: 'playwright', service: 'emulator' });
  expect(new Set(record.sessions.map(({ source, type }) => `${source} ${type}`))).toEqual(
    new Set(['pool hosted', 'session hosted_stealth']),
  );
});

test('session-fixture › tests know their session @slow', async ({ example, service, port }) => {
  const consumer = await example('session-fixture');
  const run = await runTestScript(consumer, { ...service.env, ...port }, ['--workers=1']);
  expect(run.code, run.output).toBe(0);
  expect(used(await recordOf(consumer))).toEqual(['hosted by : 3']);
});

test.describe(() => {
  test.use({ browsers: 'shell' });

  test('countries-and-types › has a browser for each pair @slow', async ({ example, service, port }) => {
    const consumer = await example('countries-and-types');
    const pairs = ['hosted', 'hosted_privacy', 'hosted_stealth'].flatMap((type) => [`DE ${type}`, `US ${type}`]);
    const run = await runTestScript(consumer, { ...service.env, ...port }, ['--workers=2']);
    expect(run.code, run.output).toBe(0);
    expect(used(await recordOf(consumer))).toEqual(pairs.map((pair) => `${pair.split(' ')[1]} by ${pair}: 1`).sort());
  });

  test('profile-login › one project logs in, and the other one finds the login @slow', async ({
    example,
    service,
    port,
  }) => {
    const consumer = await example('profile-login');
    const run = await runTestScript(consumer, { ...service.env, ...port }, ['--workers=1']);
    expect(run.code, run.output).toBe(0);
    expect(used(await recordOf(consumer))).toEqual(['hosted by account: 2', 'hosted by login: 1']);
    expect((await service.client.listProfiles()).map(({ name }) => name)).toEqual(['example-customer']);
  });
});

test('extension › is zipped, uploaded, tested, deleted @slow', async ({ example, service }) => {
  const consumer = await example('extension');
  const run = await runTestScript(consumer, service.env, ['--workers=1']);
  expect(run.code, run.output).toBe(0);
  expect(used(await recordOf(consumer))).toEqual(['hosted by : 2']);
  expect(await service.client.listExtensions()).toEqual([]);
});

test("dev-server › an edit shows in a remote browser's page @slow", async ({ example, service, port }) => {
  const consumer = await example('dev-server');
  const before = await consumer.read('src/greeting.js');
  const run = await runTestScript(consumer, { ...service.env, ...port });
  expect(run.code, run.output).toBe(0);
  expect(used(await recordOf(consumer))).toEqual(['hosted by : 1']);
  expect(await consumer.read('src/greeting.js')).toBe(before);
});

test('sharded-pool › runs two shards on one pool, and makes one report', { tag: '@slow' }, async ({
  example,
  service,
}) => {
  const consumer = await example('sharded-pool');
  const run = await runTestScript(consumer, service.env);
  expect(run.code, run.output).toBe(0);
  const shards = await Promise.all([1, 2].map((shard) => recordOf(consumer, `shards/${shard}/poolwright/run.json`)));
  expect(shards.map(({ shard }) => shard)).toEqual([1, 2].map((current) => ({ current, total: 2 })));
  const merged = await recordOf(consumer, 'playwright-report/poolwright/run.json');
  expect(merged.sessions.map(({ source, tests }) => `${source}: ${tests.length}`)).toEqual(['pool: 1', 'pool: 3']);
  const { projects } = JSON.parse(await consumer.read('poolwright-timings.json'));
  expect(projects['']['tests/herbal.spec.ts']['Rooibos is ready after its time']).toHaveLength(2);
  expect(await consumer.read('playwright-report/index.html')).toContain('<html');
  expect(await service.client.listPools()).toEqual([]);
});

test('budget › fails where it is exceeded, and says by how much @slow', async ({ example, service, port }) => {
  const consumer = await example('budget');
  const over = await runTestScript(consumer, { ...service.env, ...port });
  expect(over.code, over.output).toBe(1);
  expect(over.output).toContain('3 passed');
  const [line = ''] = /budget exceeded: .*/.exec(over.output) ?? [];
  expect(await consumer.read('README.md')).toContain(line || 'the line of the budget');
});

test('budget › passes within it @slow', async ({ example, service, port }) => {
  const consumer = await example('budget');
  const within = await runTestScript(consumer, { ...service.env, ...port }, ['--workers=2']);
  expect(within.code, within.output).toBe(0);
  const { sessions } = await recordOf(consumer);
  expect(sessions.length).toBe(2);
  expect(sessions.flatMap(({ tests }) => tests).length).toBe(3);
});

test('puppeteer-vitest › opens pages under Vitest @slow', async ({ example, service }) => {
  const consumer = await example('puppeteer-vitest');
  const run = await runTestScript(consumer, service.env);
  expect(run.code, run.output).toBe(0);
  const record = await recordOf(consumer);
  expect(record.runner).toBe('vitest');
  expect(record.sessions.flatMap(({ tests }) => tests.map(({ status }) => status))).toEqual(['passed', 'passed']);
});

test('puppeteer-script › leases a browser, reads a price, takes a picture', async ({ example }) => {
  const consumer = await example('puppeteer-script');
  const run = await runTestScript(consumer, {});
  expect(run.code, run.output).toBe(0);
  expect(run.output).toMatch(/12\.50 €, seen by session \S+/);
  expect((await consumer.read('price.png')).length).toBeGreaterThan(1000);
});

test('faulty-service › every fault happens, and the suite passes', { tag: '@slow' }, async ({ example, port }) => {
  const consumer = await example('faulty-service');
  const run = await runTestScript(consumer, port);
  expect(run.code, run.output).toBe(0);
  expect([...run.output.matchAll(/^fault: .*, (\d+) time/gm)].map(([, times]) => times)).toEqual(['1', '1', '1', '1']);
  const { sessions } = await recordOf(consumer);
  const passed = sessions.flatMap(({ tests }) => tests.filter(({ status }) => status === 'passed'));
  expect(passed.length).toBe(4);
  expect(sessions.filter(({ endReason }) => endReason !== 'run-ended').length).toBeGreaterThan(0);
});

test('own-browsers › starts a Chromium for each lease, and ends it', { tag: '@slow' }, async ({ example }) => {
  const consumer = await example('own-browsers');
  const run = await runTestScript(consumer, { CHROMIUM_PATH: await localChromium() });
  expect(run.code, run.output).toBe(0);
  const record = await recordOf(consumer);
  expect(record.service).toBe('provider');
  expect(record.sessions.flatMap(({ tests }) => tests)).toHaveLength(4);
});

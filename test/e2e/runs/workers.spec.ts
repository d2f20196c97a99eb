import { cpus } from 'node:os';
import { join } from 'node:path';
import { limitsFile, rememberLimits } from '../../../src/broker/ledger/known-limits.ts';
import type { Consumer } from '../../support/e2e/consumer.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { runCommand } from '../../support/e2e/run-command.ts';
import { reportedTests, runPlaywright } from '../../support/e2e/run-playwright.ts';
import { suiteFiles } from '../../support/e2e/suite-run.ts';

/** How many workers a run has when the user does not choose. All choices: test/unit/runners/playwright-test/config. */

test.use({ browsers: 'stub' });

/** Prints how many workers the run has. */
const SHOWS = `test('shows', async ({ page }, { config }) => {
  await page.goto('about:blank');
  console.log('WORKERS ' + config.workers);
});`;

/** Passes only while as many tests run at the same time. */
const meets = (others: number) => `
import { readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { test, expect } from '@playwright/test';
test('meets the others', async ({ page }, { file }) => {
  await page.goto('about:blank');
  writeFileSync(dirname(file) + '/here-' + basename(file), '');
  await expect.poll(() => readdirSync(dirname(file)).filter((name) => name.startsWith('here-')).length, { timeout: 25_000 }).toBe(${others});
});`;

const limitsIn = ({ directory }: Consumer, { baseURL, apiKey }: { baseURL: string; apiKey: string }) =>
  limitsFile(directory, { kind: 'hosted', baseURL, apiKey }) ?? '';

test.describe('with a plan of three browsers', () => {
  test.use({ serviceOptions: { concurrentBrowsers: 3 } });

  test('workers › are Playwright’s own number at first, and from the next run on as many as the plan allows', async ({
    newConsumer,
    service,
  }) => {
    const consumer = await newConsumer();
    await consumer.write(suiteFiles({ tests: { a: SHOWS } }));
    const first = await runPlaywright(consumer, [], service.env);
    expect(first.code, first.output).toBe(0);
    expect(first.output).toMatch(
      /^poolwright: (1 worker|\d+ workers), Playwright's own number: the plan's limit is not known here yet\./m,
    );
    await consumer.write(suiteFiles({ tests: { a: meets(3), b: meets(3), c: meets(3) } }));
    const second = await runPlaywright(consumer, [], service.env);
    expect(second.code, second.output).toBe(0);
    expect(second.output).toContain('poolwright: 3 workers: the plan allows 3 browsers at once\n');
    expect(second.output).toContain('Running 3 tests using 3 workers');
  });
});

test.describe('with a plan of six browsers', () => {
  test.use({ serviceOptions: { concurrentBrowsers: 6 } });

  test('workers › follow what doctor found, divided by the shards; the option comes before the config', async ({
    newConsumer,
    service,
  }) => {
    const consumer = await newConsumer();
    await consumer.write(suiteFiles({ tests: SHOWS, config: 'workers: 5,', options: `{ workers: 'auto' }` }));
    const cli = join(consumer.directory, 'node_modules/poolwright/dist/cli.js');
    const doctor = await runCommand(consumer, [cli, 'doctor', '--no-session'], service.env);
    expect(doctor.code, doctor.output).toBe(0);
    const { code, output } = await runPlaywright(consumer, ['--shard=1/2'], service.env);
    expect(code, output).toBe(0);
    expect(output).toContain('poolwright: 3 workers: the plan allows 6 browsers at once, for 2 shards\n');
    expect(output).toContain('WORKERS 3\n');
  });
});

test.describe('with a plan of eight browsers', () => {
  test.use({ serviceOptions: { concurrentBrowsers: 8 } });

  /** Hosted tests pass only while three of them run at the same time. */
  const mixed = `
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { test, expect } from '@playwright/test';
test('runs', async ({}, { project, repeatEachIndex, config }) => {
  console.log('WORKERS ' + config.workers);
  if (project.name !== 'hosted') return await new Promise((resolve) => setTimeout(resolve, 3_000));
  mkdirSync(process.env.HERE, { recursive: true });
  writeFileSync(process.env.HERE + '/' + repeatEachIndex, '');
  await expect.poll(() => readdirSync(process.env.HERE).length, { timeout: 25_000 }).toBeGreaterThanOrEqual(3);
});`;

  for (const { args, chosen, said, tag } of [
    { args: [], chosen: 8, said: '8 workers: the plan allows 8 browsers at once\n', tag: '@slow' },
    {
      args: ['--shard=1/2'],
      chosen: 4,
      said: '4 workers: the plan allows 8 browsers at once, for 2 shards\n',
      tag: [],
    },
  ]) {
    test(`workers › of local projects in a mixed config are Playwright’s own number: ${chosen} for hosted ones`, {
      tag,
    }, async ({ newConsumer, service }) => {
      const consumer = await newConsumer();
      // The first shard has all tests of the first project, and half of those of the second.
      const config = `projects: [
        { name: 'hosted' },
        { name: 'local', use: { hosted: false } },
        { name: 'other', use: { hosted: false } },
      ],`;
      await consumer.write(suiteFiles({ tests: mixed, config }));
      await rememberLimits(limitsIn(consumer, service.emulator), { concurrentBrowsers: 8, pools: new Map() });
      const run = await runPlaywright(consumer, ['--repeat-each=4', ...args], { ...service.env, HERE: 'here' });
      expect(run.code, run.output).toBe(0);
      expect(run.output).toContain(`poolwright: ${said}`);
      expect(run.output).toContain(`WORKERS ${chosen}\n`);
      const times = (await reportedTests(consumer))
        .filter(({ project }) => project === 'local')
        .flatMap(({ results }) => results)
        .map(({ startTime, duration }) => ({ from: Date.parse(startTime), to: Date.parse(startTime) + duration }));
      expect(times.length).toBeGreaterThanOrEqual(2);
      const atOnce = times.map(({ from }) => times.filter((each) => each.from <= from && from < each.to).length);
      expect(Math.max(...atOnce)).toBeLessThanOrEqual(Math.max(1, Math.floor(cpus().length / 2)));
    });
  }
});

test.describe('with a plan that has shrunk to one browser', () => {
  test.use({ serviceOptions: { concurrentBrowsers: 1 } });

  test('workers › over the limit wait for the others, longer than `acquireTimeout`', { tag: '@slow' }, async ({
    newConsumer,
    service,
  }) => {
    const consumer = await newConsumer();
    const stays = `test('stays', async ({ page }) => {
      await page.goto('about:blank');
      await new Promise((resolve) => setTimeout(resolve, 3_000));
    });`;
    await consumer.write(suiteFiles({ tests: { a: stays, b: stays }, options: '{ acquireTimeout: 1_000 }' }));
    await rememberLimits(limitsIn(consumer, service.emulator), { concurrentBrowsers: 2, pools: new Map() });
    const run = await runPlaywright(consumer, [], service.env);
    expect(run.code, run.output).toBe(0);
    expect(run.output).toContain('poolwright: 2 workers: the plan allows 2 browsers at once\n');
    const next = await runPlaywright(consumer, [], service.env);
    expect(next.output).toContain('poolwright: 1 worker: the plan allows 1 browser at once\n');
  });
});

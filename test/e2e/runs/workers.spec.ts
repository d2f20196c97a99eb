import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { limitsFile, rememberLimits } from '../../../src/broker/ledger/known-limits.ts';
import type { Consumer } from '../../support/e2e/consumer.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { runCommand } from '../../support/e2e/run-command.ts';
import { runPlaywright } from '../../support/e2e/run-playwright.ts';
import { suiteFiles } from '../../support/e2e/suite-run.ts';

/** How many workers a run has when the user does not choose. */

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
  limitsFile(directory, { baseURL, apiKey }) ?? '';

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

    await writeFile(limitsIn(consumer, service.emulator), '{"concurrentBrowsers":');
    await consumer.write(suiteFiles({ tests: { a: SHOWS, b: SHOWS, c: SHOWS } }));
    const damaged = await runPlaywright(consumer, [], service.env);
    expect(damaged.code, damaged.output).toBe(0);
    expect(damaged.output).toContain('is not known here yet');
  });
});

test.describe('with a plan of six browsers', () => {
  test.use({ serviceOptions: { concurrentBrowsers: 6 } });

  test('workers › follow what doctor found, divided by the shards; flag, config and variable come first', async ({
    newConsumer,
    service,
  }) => {
    const consumer = await newConsumer();
    await consumer.write(suiteFiles({ tests: SHOWS }));
    const cli = join(consumer.directory, 'node_modules/poolwright/dist/cli.js');
    const doctor = await runCommand(consumer, [cli, 'doctor', '--no-session'], service.env);
    expect(doctor.code, doctor.output).toBe(0);
    const shown = async (args: string[], env: Record<string, string> = {}) => {
      const { code, output } = await runPlaywright(consumer, args, { ...service.env, ...env });
      expect(code, output).toBe(0);
      const [, said] = /^poolwright: (\d+ workers?\b.*)$/m.exec(output) ?? [];
      return [Number(/WORKERS (\d+)/.exec(output)?.[1]), said];
    };
    expect(await shown(['--shard=1/2'])).toEqual([3, '3 workers: the plan allows 6 browsers at once, for 2 shards']);
    expect(await shown(['--workers=2'])).toEqual([2, undefined]);
    expect(await shown([], { POOLWRIGHT_WORKERS: '4' })).toEqual([4, undefined]);
    await consumer.write(suiteFiles({ tests: SHOWS, config: 'workers: 5,' }));
    expect(await shown([])).toEqual([5, undefined]);
    await consumer.write(suiteFiles({ tests: SHOWS, config: 'workers: 5,', options: `{ workers: 'auto' }` }));
    expect(await shown([])).toEqual([6, '6 workers: the plan allows 6 browsers at once']);
  });
});

test.describe('with a plan that has shrunk to one browser', () => {
  test.use({ serviceOptions: { concurrentBrowsers: 1 } });

  test('workers › over the limit wait for the others, longer than `acquireTimeout`', async ({
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

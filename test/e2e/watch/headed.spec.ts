import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Consumer } from '../../support/e2e/consumer.ts';
import { test as base, expect } from '../../support/e2e/fixtures.ts';
import { commandOf, leftProcesses, processesIn } from '../../support/e2e/process-tree.ts';
import { startPlaywright } from '../../support/e2e/run-playwright.ts';
import { ownTitle } from '../../support/watch/watched-run.ts';

/** `playwright test --headed` on hosted browsers: a page shows them, in place of windows. */

interface Desk {
  env: Record<string, string>;
  /** Temporary directory of the run: watchers of other tests do not find it. The page's server runs there. */
  directory: string;
  /** The files that the user's browser was asked to open, as addresses. */
  opened(): Promise<string[]>;
}

const test = base.extend<{ desk: Desk }>({
  desk: async ({}, use) => {
    const directory = await mkdtemp(join(tmpdir(), 'headed-'));
    const bin = join(directory, 'bin');
    await mkdir(bin);
    const log = join(directory, 'opened');
    await writeFile(log, '');
    await writeFile(join(bin, 'xdg-open'), `#!/bin/sh\necho "$1" >> '${log}'\n`);
    await chmod(join(bin, 'xdg-open'), 0o755);
    await use({
      directory,
      env: { TMPDIR: directory, DISPLAY: ':99', PATH: `${bin}${delimiter}${process.env.PATH}` },
      opened: async () =>
        (await readFile(log, 'utf8')).split('\n').flatMap((path) => (path === '' ? [] : pathToFileURL(path).href)),
    });
    for (const pid of processesIn(directory)) process.kill(pid, 'SIGKILL');
    await rm(directory, { recursive: true });
  },
});

const LINE = /hosted browsers have no window \(--headed\): (.*)/g;
const SHOWS = 'the page of `npx poolwright watch` shows them live';

const TITLE = ownTitle('waits headed');

test.use({ browsers: 'stub' });

async function write(consumer: Consumer): Promise<void> {
  await consumer.write({
    'playwright.config.js': `
      const { withHostedBrowsers } = require('poolwright');
      module.exports = withHostedBrowsers({ testDir: '.', projects: [{ name: 'shop' }, { name: 'local', use: { hosted: false } }] });`,
    'a.spec.js': `
      const { test } = require('@playwright/test');
      const { existsSync } = require('node:fs');
      test('${TITLE}', async ({ page }) => {
        await page.goto('data:text/html,<title>shop</title><h1>A shop');
        while (!existsSync('go-on')) await page.waitForTimeout(50);
      });`,
  });
}

test('--headed opens one page without any secret of the run; it stays until it is closed', async ({
  newConsumer,
  service,
  desk,
  page,
}) => {
  const consumer = await newConsumer();
  await write(consumer);
  const env = { ...service.env, ...desk.env, POOLWRIGHT_RELAY_SECRET: 'a secret of 32 characters or more' };
  const args = ['--headed', '--project=shop', '--workers=1'];
  const run = startPlaywright(consumer, args, env);
  await expect.poll(desk.opened).toHaveLength(1);
  const [address = ''] = await desk.opened();
  const servers = processesIn(desk.directory);
  expect(servers.map(commandOf)).toEqual([expect.stringMatching(/cli\.js watch --until-closed$/)]);
  // It outlives the run, and every process of this user can read its environment.
  const environment = await readFile(`/proc/${servers[0]}/environ`, 'utf8');
  expect(environment).toContain(`TMPDIR=${desk.directory}`);
  expect(environment).not.toContain('POOLWRIGHT_');
  await page.goto(address);
  // Runs of other tests are on the page, too.
  const ours = page.locator('.run').filter({ hasText: TITLE });
  await expect(ours).toHaveCount(1);

  // Another run is on the page that is open.
  const second = startPlaywright(consumer, [...args, '--output=second'], env);
  await expect(ours).toHaveCount(2);
  await consumer.write({ 'go-on': '' });
  for (const { exit, output } of [run, second]) {
    expect((await exit).code, output()).toBe(0);
    expect([...output().matchAll(LINE)].map(([, how]) => how)).toEqual([
      `${SHOWS}. For Playwright's own browsers, set POOLWRIGHT_SERVICE=local`,
    ]);
    // The output of a run does not open the page.
    expect(output()).not.toContain('/open/');
  }
  expect(await desk.opened()).toHaveLength(1);
  await expect(ours.getByText('ended after')).toHaveCount(2);
  expect(await leftProcesses(consumer.directory)).toEqual([]);
  expect(processesIn(desk.directory)).toHaveLength(1);

  await page.close();
  await expect.poll(() => leftProcesses(desk.directory)).toEqual([]);
  await expect(readFile(new URL(address))).rejects.toThrow('ENOENT');
});

test('--headed only prints in CI and without a screen, and nothing for local projects', { tag: '@slow' }, async ({
  newConsumer,
  service,
  desk,
}) => {
  const consumer = await newConsumer();
  await write(consumer);
  await consumer.write({ 'go-on': '' });
  for (const env of [
    { ...desk.env, CI: '1' },
    { ...desk.env, DISPLAY: '' },
  ]) {
    const run = startPlaywright(consumer, ['--headed', '--project=shop'], { ...service.env, ...env });
    expect((await run.exit).code, run.output()).toBe(0);
    expect(run.output()).toContain('(--headed): see them live with `npx poolwright watch`');
  }
  const local = startPlaywright(consumer, ['--headed', '--project=local', '--list'], { ...service.env, ...desk.env });
  await local.exit;
  expect(local.output()).not.toContain('no window');
  const headless = startPlaywright(consumer, ['--project=shop'], { ...service.env, ...desk.env });
  expect((await headless.exit).code).toBe(0);
  expect(headless.output()).not.toContain('no window');
  expect(await desk.opened()).toEqual([]);
  expect(leftProcesses(desk.directory)).toEqual([]);
});

import { spawn } from 'node:child_process';
import type { Page } from '@playwright/test';
import { violationsOn } from '../../support/accessibility.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { leftProcesses } from '../../support/e2e/process-tree.ts';
import { follow, startCommand, userEnvironment } from '../../support/e2e/run-command.ts';
import { startPlaywright } from '../../support/e2e/run-playwright.ts';
import { ownTitle, pictureOf } from '../../support/watch/watched-run.ts';

/** `poolwright watch`: its page, before, during and after a run. */

const RED = `data:text/html,<title>red</title><body style="background:red"><h1>Red</h1>`;
const WAITS = `
  const { existsSync } = process.getBuiltinModule('node:fs');
  while (!existsSync('go-on')) await new Promise((resolve) => setTimeout(resolve, 50));`;

test.use({ browsers: 'shell' });

/** The middle of the first live picture that has something in it. */
async function colour(page: Page): Promise<number[]> {
  return (await page.evaluate(`(() => {
    const pixels = [...document.querySelectorAll('canvas')].map((canvas) => {
      const pixel = canvas.getContext('2d')?.getImageData(canvas.width / 2, canvas.height / 2, 1, 1).data;
      return [...(pixel ?? [])].slice(0, 3);
    });
    return pixels.find(([red = 0, green = 255]) => red > 200 && green < 50) ?? [];
  })()`)) as number[];
}

test('shows a run live, enlarges a tile, and keeps the failed test with its last picture', async ({
  newConsumer,
  service,
  page,
}) => {
  const consumer = await newConsumer();
  const title = ownTitle('fails in red');
  await consumer.write({
    'playwright.config.js': `
      const { withHostedBrowsers } = require('poolwright');
      module.exports = withHostedBrowsers({ testDir: '.', retries: 0, projects: [{ name: 'shop' }] });`,
    'a.spec.js': `
      const { test, expect } = require('@playwright/test');
      test('${title}', async ({ page }) => {
        await page.goto(${JSON.stringify(RED)});
        await test.step('waits in a step', async () => {${WAITS}});
        expect(1).toBe(2);
      });`,
  });
  const watch = startCommand(consumer, ['node_modules/poolwright/dist/cli.js', 'watch', '--no-open'], {});
  await watch.printed(/http:\S+\/open\/\S+/);
  const [address = ''] = /http:\S+\/open\/\S+/.exec(watch.output()) ?? [];
  await page.goto(address);
  await expect(page.getByRole('heading', { name: 'poolwright watch' })).toBeVisible();

  const run = startPlaywright(consumer, ['--workers=1'], service.env);
  // Runs of other tests are on this machine, too.
  const tile = page.locator('.tile').filter({ hasText: title });
  await expect(tile.getByText('waits in a step')).toBeVisible({ timeout: 60_000 });
  const [sessionId = ''] = await service.running();
  await expect(page.getByText(sessionId).first()).toBeVisible();
  await pictureOf(tile);
  await expect(tile.locator('.address')).toHaveText(RED);
  await expect.poll(async () => (await colour(page))[0] ?? 0).toBeGreaterThan(240);
  expect(await violationsOn(page)).toEqual([]);
  expect(await page.content()).not.toContain(service.emulator.apiKey);

  await consumer.write({ 'go-on': '' });
  expect((await run.exit).code).toBe(1);
  const picture = page.getByRole('listitem').filter({ hasText: title }).locator('img');
  await expect(picture).toHaveJSProperty('naturalWidth', 480);

  // The address opens the page once.
  const stranger = await page.context().browser()?.newContext();
  expect((await stranger?.request.get(address))?.status()).toBe(403);
  expect((await stranger?.request.get(page.url()))?.status()).toBe(403);
  await stranger?.close();

  watch.child.kill('SIGINT');
  expect((await watch.exit).code, watch.output()).toBe(0);
  await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
});

test('prints another address after Enter, each of which is valid once, and ends with Ctrl-C', async ({
  newConsumer,
}) => {
  const consumer = await newConsumer();
  const line = `exec '${process.execPath}' node_modules/poolwright/dist/cli.js watch --no-open`;
  const child = spawn('script', ['--quiet', '--flush', '--return', '--command', line, '/dev/null'], {
    cwd: consumer.directory,
    env: { ...userEnvironment({}), SHELL: '/bin/sh' },
    detached: true,
  });
  const watch = follow(child, consumer);
  const addresses = () => watch.output().match(/http:\S+\/open\/[\w-]+/g) ?? [];
  await expect.poll(addresses).toHaveLength(1);
  child.stdin?.write('\n');
  await expect.poll(addresses).toHaveLength(2);
  const [first = '', second = ''] = addresses();
  const statusOf = async (address: string) => (await fetch(address)).status;
  // Only the latest one is valid: what an earlier one was printed into may be read by others.
  expect(await statusOf(first)).toBe(403);
  expect(await statusOf(second)).toBe(200);
  expect(await statusOf(second)).toBe(403);
  child.stdin?.write('\u0003');
  expect((await watch.exit).code, watch.output()).toBe(0);
  await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
});

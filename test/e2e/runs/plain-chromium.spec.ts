import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { test as base, expect } from '../../support/e2e/fixtures.ts';
import { brokerOf, commandOf } from '../../support/e2e/process-tree.ts';
import { STAYS } from '../../support/e2e/suites.ts';
import { localChromium } from '../../support/local-chromium.ts';
import { poolwright } from '../../support/run-cli.ts';

/** The provider of examples/own-browsers, which `init` writes, too: it leaves neither processes nor files. */

const RECIPE = resolve(import.meta.dirname, '../../../examples/own-browsers/browsers.mjs');

const test = base.extend<{ env: Record<string, string>; files: Record<string, string> }>({
  // A separate directory for temporary files, so that what is left there is of this test.
  env: async ({}, use, { outputDir }) => {
    const TMPDIR = join(outputDir, 'tmp');
    await mkdir(TMPDIR, { recursive: true });
    await use({ TMPDIR, CHROMIUM_PATH: await localChromium(), POOLWRIGHT_PROVIDER: 'browsers.mjs' });
    expect(await profilesIn(TMPDIR)).toEqual([]);
  },
  files: async ({}, use) => await use({ 'browsers.mjs': await readFile(RECIPE, 'utf8') }),
});

async function profilesIn(directory: string): Promise<string[]> {
  return (await readdir(directory)).filter((name) => name.startsWith('poolwright-browser-'));
}

const ONE = { a: `test('a', async ({ page }) => { await page.goto('about:blank'); });` };

test('no Chromium, or one that ends: one clear error', async ({ runSuite, env, files }) => {
  const run = (path: string) => runSuite({ tests: ONE, files, env: { ...env, CHROMIUM_PATH: path }, code: 1 });
  expect((await run('no-such-chromium')).output).toContain(
    'browsers.mjs: no-such-chromium does not start: set CHROMIUM_PATH',
  );
  expect((await run('false')).output).toContain('browsers.mjs: false ended with 1');
});

test('`sweep` ends the browser of a killed run, and removes its profile', async ({ startSuite, env, files }) => {
  const run = await startSuite({ tests: STAYS, files, env, args: ['--workers=1'] });
  await run.printed(/WORKER \d+/);
  const profiles = await profilesIn(env.TMPDIR ?? '');
  expect(profiles).toHaveLength(1);
  const profile = join(env.TMPDIR ?? '', profiles[0] ?? '');
  const browser = Number(await readFile(join(profile, 'pid'), 'utf8'));
  const broker = brokerOf(run.child.pid ?? 0);
  process.kill(-(run.child.pid ?? 0), 'SIGKILL');
  process.kill(broker, 'SIGKILL');
  await run.exit;
  expect(commandOf(browser)).toContain(profile);
  const swept = await poolwright(['sweep'], env, run.consumer.directory);
  expect(swept.stdout).toMatch(/stopped poolwright-browser-\w+ \(run local-/);
  await expect.poll(() => commandOf(browser)).toBe('');
});

test('doctor finds nothing wrong with it', async ({ newConsumer, env, files }) => {
  const consumer = await newConsumer();
  await consumer.write(files);
  const { stdout, code } = await poolwright(['doctor'], env, consumer.directory);
  expect(code, stdout).toBe(0);
  expect(stdout).toMatch(/^ok +session: leased in \d+ ms, /m);
  expect(stdout).toMatch(/^ok +list: returns the browser with its label$/m);
  expect(stdout).toMatch(/^ok +release: resolves for a browser that has ended, too$/m);
});

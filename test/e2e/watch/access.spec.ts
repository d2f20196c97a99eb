import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { test as base, expect } from '../../support/e2e/fixtures.ts';
import { descendants } from '../../support/e2e/process-tree.ts';
import { startCommand } from '../../support/e2e/run-command.ts';
import { startPlaywright } from '../../support/e2e/run-playwright.ts';
import { STAYS, wrappedConfig } from '../../support/e2e/suites.ts';
import { requires } from '../../support/requires.ts';
import { ownTitle, pictureOf } from '../../support/watch/watched-run.ts';

/** Who gets what of `poolwright watch`: tokens, addresses and files, during a real run. */

const RED = `data:text/html,<title>red</title><body style="background:red">`;
const ADDRESS = /http:\S+\/open\/\S+/;

const test = base.extend<{ temporary: string }>({
  browsers: 'shell',
  // The run's files are in it, and nobody who watches the runs of other tests finds them.
  temporary: async ({}, use) => {
    const temporary = await mkdtemp(join(tmpdir(), 'pw-'));
    await use(temporary);
    await rm(temporary, { recursive: true, force: true });
  },
});

/** The command lines of all processes on this machine. */
async function processList(): Promise<string> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')));
  return lines.join('\n').replaceAll('\0', ' ');
}

/** The file with which the only run announces itself, which is the user's alone, and the run's socket. */
async function announcedIn(temporary: string): Promise<[file: string, socket: string]> {
  const directories = (await readdir(temporary)).filter((name) => /^poolwright-\w{6}$/.test(name));
  expect(directories).toHaveLength(1);
  const directory = join(temporary, String(directories[0]));
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  const announced = join(directory, 'watch.json');
  expect((await stat(announced)).mode & 0o777).toBe(0o600);
  return [announced, JSON.parse(await readFile(announced, 'utf8')).address];
}

/** Whether something listens at this address. */
function listens(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 5_000 });
    const end = (is: boolean) => {
      socket.destroy();
      resolve(is);
    };
    socket.on('connect', () => end(true)).on('error', () => end(false));
    socket.on('timeout', () => end(false));
  });
}

test('opens the page on loopback only, without a token in the process list, through a file that is private', async ({
  newConsumer,
  temporary,
  page,
}) => {
  const consumer = await newConsumer();
  // In place of the user's browser: it stays, as a browser does, and shows what it has been given.
  const programs = join(consumer.directory, 'programs');
  await mkdir(programs);
  await writeFile(
    join(programs, 'xdg-open'),
    '#!/bin/sh\necho "$@" > opened.part\nmv opened.part opened\nsleep 600 & wait\n',
  );
  await chmod(join(programs, 'xdg-open'), 0o755);
  const PATH = `${programs}:${process.env.PATH}`;
  const watch = startCommand(consumer, ['node_modules/poolwright/dist/cli.js', 'watch'], {
    TMPDIR: temporary,
    DISPLAY: ':0',
    PATH,
  });
  await watch.printed(ADDRESS);
  await expect.poll(() => consumer.read('opened').catch(() => '')).not.toBe('');
  const file = (await consumer.read('opened')).trim();
  const [opened = ''] = /http:\/\/127\.0\.0\.1:\d+\/open\/[\w-]+/.exec(await readFile(file, 'utf8')) ?? [];
  const [printed = ''] = ADDRESS.exec(watch.output()) ?? [];
  const tokens = [opened, printed].map((address) => address.replace(/.*\/open\//, ''));
  expect(new Set(tokens).size).toBe(2);

  const port = Number(new URL(printed).port);
  expect(await listens('127.0.0.1', port)).toBe(true);
  const others = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80'));
  for (const { address } of [...others, { address: '127.0.0.2' }, { address: '::1' }]) {
    expect(await listens(address, port), address).toBe(false);
  }

  const list = await processList();
  expect(list).toContain(file);
  for (const token of tokens) {
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(list).not.toContain(token);
  }
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(join(file, '..'))).mode & 0o777).toBe(0o700);

  await page.goto(`file://${file}`);
  await expect(page.getByRole('heading', { name: 'poolwright watch' })).toBeVisible();
  for (const { pid, command } of descendants(process.pid)) {
    if (command.includes(programs) || command === 'sleep 600') process.kill(pid);
  }
  process.kill(watch.child.pid ?? 0, 'SIGINT');
  expect((await watch.exit).code, watch.output()).toBe(0);
  await expect(stat(file)).rejects.toThrow('ENOENT');
});

test.describe('where no page matters', () => {
  test.use({ browsers: 'stub' });

  test("other users can neither read a run's files nor connect to it", async ({ newConsumer, service, temporary }) => {
    requires('root'); // to become another user
    const consumer = await newConsumer();
    await consumer.write({ 'playwright.config.ts': wrappedConfig(), 'tests/stays.spec.ts': STAYS });
    const run = startPlaywright(consumer, [], { ...service.env, TMPDIR: temporary });
    await run.printed(/WORKER \d+/);
    const [announced, socket] = await announcedIn(temporary);
    await chmod(temporary, 0o755);
    const script = `
    const { readFileSync } = require('node:fs');
    const [, announced, socket] = process.argv;
    try { readFileSync(announced); console.log('read'); } catch ({ code }) { console.log(code); }
    require('node:net').connect(socket)
      .on('connect', function () { console.log('connected'); this.destroy(); }).on('error', ({ code }) => console.log(code));`;
    const as = async (user: number) => {
      const options = { uid: user, gid: user, cwd: '/', timeout: 60_000 };
      const { stdout } = await promisify(execFile)(process.execPath, ['-e', script, announced, socket], options);
      return stdout.trim().split('\n');
    };
    expect(await as(65_534)).toEqual(['EACCES', 'EACCES']);
    expect(await as(0)).toEqual(['read', 'connected']);
    process.kill(-(run.child.pid ?? 0), 'SIGINT');
    await run.exit;
  });
});

test('gives secrets neither to the page nor to logs', async ({ newConsumer, service, temporary, page }) => {
  const consumer = await newConsumer();
  const title = ownTitle('shows its secrets');
  await consumer.write({
    'playwright.config.js': `
      const { withHostedBrowsers } = require('poolwright');
      module.exports = withHostedBrowsers({ testDir: '.', reporter: [['list'], ['html', { open: 'never' }]] });`,
    'a.spec.js': `
      const { test, expect } = require('@playwright/test');
      const { existsSync } = require('node:fs');
      test('${title}', async ({ page }) => {
        await page.goto(${JSON.stringify(RED)} + '<title>' + process.env.POOLWRIGHT_API_KEY);
        await test.step('waits with ' + process.env.POOLWRIGHT_API_KEY, async () => {
          while (!existsSync('go-on')) await new Promise((resolve) => setTimeout(resolve, 50));
        });
        expect(1).toBe(2);
      });`,
  });
  const debug = { TMPDIR: temporary, DEBUG: 'poolwright*' };
  const watch = startCommand(consumer, ['node_modules/poolwright/dist/cli.js', 'watch', '--no-open'], debug);
  await watch.printed(ADDRESS);
  const [address = ''] = ADDRESS.exec(watch.output()) ?? [];

  // Everything that reaches the page.
  const received: Promise<string>[] = [];
  const foreign: string[] = [];
  page.on('response', (response) => received.push(response.text().catch(() => '')));
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(address).origin) foreign.push(request.url());
  });
  let frames = 0;
  page.on('websocket', (socket) => {
    if (new URL(socket.url()).host !== new URL(address).host) foreign.push(socket.url());
    socket.on('framereceived', ({ payload }) => {
      frames += 1;
      received.push(Promise.resolve(payload.toString()));
    });
  });
  await page.goto(address);
  const run = startPlaywright(consumer, ['--workers=1'], { ...service.env, ...debug });
  const tile = page.locator('.tile').filter({ hasText: title });
  await expect(tile.getByText('waits with ***')).toBeVisible({ timeout: 60_000 });
  await pictureOf(tile);
  // They may cost money.
  await expect(page.getByText(/pictures so far: [1-9]/).first()).toBeVisible();

  // The run's files, while it runs.
  const [announced] = await announcedIn(temporary);
  const { token } = JSON.parse(await readFile(announced, 'utf8'));
  const [{ cdpUrl = '' } = {}] = (await service.client.listSessions({ status: 'active' })).sessions;
  const { host: browser = 'none' } = cdpUrl ? new URL(cdpUrl) : {};
  const list = await processList();
  await consumer.write({ 'go-on': '' });
  expect((await run.exit).code, run.output()).toBe(1);
  await expect(page.getByRole('listitem').filter({ hasText: title }).first()).toBeVisible();
  const cookies = await page.context().cookies();
  const secret = cookies[0]?.value ?? '';
  expect(secret).toMatch(/^[\w-]{43}$/);

  expect(frames).toBeGreaterThan(3);
  expect(foreign).toEqual([]);
  const all = (await Promise.all(received)).join('\n');
  expect(all).toContain(title);
  const opener = address.replace(/.*\/open\//, '');
  for (const text of [service.emulator.apiKey, token, '/devtools/', browser, opener, secret]) {
    expect(all, 'what the page gets').not.toContain(text);
  }
  const files = (
    await readdir(join(consumer.directory, 'test-results'), { recursive: true, withFileTypes: true })
  ).filter((each) => each.isFile() && /\.(?:json|html|md)$/.test(each.name));
  expect(files.map(({ name }) => name)).toContain('run.json');
  const logs = await Promise.all(files.map((each) => readFile(join(each.parentPath, each.name), 'utf8')));
  const said = watch.output().replace(address, '');
  for (const text of [token, opener, secret]) {
    for (const log of [run.output(), said, list, ...logs]) expect(log).not.toContain(text);
  }
  process.kill(watch.child.pid ?? 0, 'SIGINT');
  await watch.exit;
});

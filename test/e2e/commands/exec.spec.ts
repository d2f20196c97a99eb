import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Consumer } from '../../support/e2e/consumer.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { userEnvironment } from '../../support/e2e/run-command.ts';
import { recordOf } from '../../support/e2e/runner-records.ts';
import type { TestService } from '../../support/e2e/service.ts';

/** `poolwright exec` of the packed package, with tools that know nothing of it. */

const LAUNCH_PLAYWRIGHT = `
import { chromium } from '@playwright/test';
const browser = await chromium.launch({ executablePath: process.env.CHROME_PATH });
const page = await browser.newPage();
await page.goto('data:text/html,<title>launched</title>');
console.log(await page.title());
await browser.close();`;

const LAUNCH_PUPPETEER = `
import puppeteer from 'puppeteer-core';
for (const pipe of [true, false]) {
  const browser = await puppeteer.launch({ pipe, executablePath: process.env.PUPPETEER_EXECUTABLE_PATH });
  const page = await browser.newPage();
  await page.goto('data:text/html,<title>launched</title>');
  console.log(await page.title());
  await browser.close();
}`;

const CONNECT = `
import { chromium } from '@playwright/test';
import puppeteer from 'puppeteer-core';
const endpoint = process.argv[2];
const browser = await chromium.connectOverCDP(endpoint);
const page = await browser.newPage();
await page.goto('data:text/html,<title>connected</title>');
console.log(await page.title());
await browser.close();
const other = await puppeteer.connect({ browserWSEndpoint: endpoint });
const [first] = await other.pages();
await first.goto('data:text/html,<title>connected</title>');
console.log(await first.title());
await other.close();`;

/** Connects as often as asked, and uses each browser once; at most two may be there at the same time. */
const CONNECT_MANY = `
const { WebSocket } = await import('ws');
let open = 0, most = 0;
const use = () => new Promise((resolve, reject) => {
  const socket = new WebSocket(process.env.POOLWRIGHT_ENDPOINT);
  socket.on('open', () => socket.send('{"id":1,"method":"Browser.getVersion"}'));
  socket.on('close', (code, reason) => reject(new Error(code + ' ' + reason)));
  socket.on('error', reject);
  socket.on('message', () => {
    open += 1;
    most = Math.max(most, open);
    setTimeout(() => { open -= 1; socket.close(); resolve(); }, 50);
  });
});
await Promise.all(Array.from({ length: 12 }, use));
console.log('most', most);`;

/** Launches three browsers, reports the programs, and waits. */
const HANG = `
import puppeteer from 'puppeteer-core';
const launch = () => puppeteer.launch({ pipe: true, executablePath: process.env.CHROME_PATH });
const browsers = await Promise.all([launch(), launch(), launch()]);
console.log(JSON.stringify({ pid: process.pid, programs: browsers.map((each) => each.process().pid) }));
setInterval(() => undefined, 1000);`;

/** Starts the command; stdout by line. */
function start(consumer: Consumer, { env }: TestService, args: readonly string[]) {
  const cli = join(consumer.directory, 'node_modules/poolwright/dist/cli.js');
  const child = spawn(process.execPath, [cli, 'exec', ...args], {
    cwd: consumer.directory,
    env: userEnvironment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const firstLine = once(reader, 'line').then(([line]) => String(line));
  firstLine.catch(() => undefined);
  const end = once(child, 'close').then(([code, signal]) => ({ code, signal, lines, stderr }));
  return { child, firstLine, end };
}

test.describe('tools that start or connect to a browser', () => {
  test.use({ browsers: 'shell' });
  test.setTimeout(240_000);

  for (const [name, script, titles] of [
    ['Playwright starts it', LAUNCH_PLAYWRIGHT, ['launched']],
    ['Puppeteer starts it, on a pipe and on a port', LAUNCH_PUPPETEER, ['launched', 'launched']],
    ['Playwright and Puppeteer connect to it', CONNECT, ['connected', 'connected']],
  ] as const) {
    test(name, async ({ newConsumer, service }) => {
      const consumer = await newConsumer('latest', 'module', ['puppeteer-core']);
      await consumer.write({ 'tool.mjs': script });
      const { code, lines, stderr } = await start(consumer, service, ['--', 'node', 'tool.mjs', '{endpoint}']).end;
      expect(lines, stderr).toEqual(titles);
      expect(code).toBe(0);
      const { runner, sessions } = await recordOf(consumer);
      expect(runner).toBe('exec');
      expect(sessions.map(({ endReason, endConfirmed }) => [endReason, endConfirmed])).toEqual(
        titles.map(() => ['finished', true]),
      );
      expect(await service.running()).toEqual([]);
    });
  }

  test('a program and a command that are killed leave no browser', async ({ newConsumer, service }) => {
    const consumer = await newConsumer('latest', 'module', ['puppeteer-core']);
    await consumer.write({ 'tool.mjs': HANG });
    const { firstLine, end } = start(consumer, service, ['--', 'node', 'tool.mjs']);
    const { pid, programs } = JSON.parse(await firstLine);
    expect(await service.running()).toHaveLength(3);
    process.kill(programs[0], 'SIGKILL');
    await expect.poll(service.running, { timeout: 60_000 }).toHaveLength(2);
    process.kill(pid, 'SIGKILL');
    expect(await end).toMatchObject({ code: null, signal: 'SIGKILL' });
    expect(await service.running()).toEqual([]);
  });

  test('the process that watches over the command leaves no browser when it is killed', async ({
    newConsumer,
    service,
  }) => {
    const consumer = await newConsumer('latest', 'module', ['puppeteer-core']);
    await consumer.write({ 'tool.mjs': HANG });
    const { child, firstLine } = start(consumer, service, ['--', 'node', 'tool.mjs']);
    const { pid } = JSON.parse(await firstLine);
    child.kill('SIGKILL');
    await expect.poll(service.running, { timeout: 60_000 }).toEqual([]);
    process.kill(pid, 'SIGKILL');
  });
});

test.describe('without pages', () => {
  test.use({ browsers: 'stub' });

  test('ends as the command does', async ({ newConsumer, service }) => {
    const consumer = await newConsumer();
    const ends = async (...args: string[]) => await start(consumer, service, args).end;
    expect(await ends('--', 'sh', '-c', 'exit 7')).toMatchObject({ code: 7, signal: null });
    expect(await ends('--', 'sh', '-c', 'kill -TERM $$')).toMatchObject({ code: null, signal: 'SIGTERM' });
    expect(await ends('--', 'no-such-command')).toMatchObject({
      code: 127,
      stderr: expect.stringContaining('`no-such-command` could not be started: there is no such command'),
    });
    // What follows the command is the command's, also without `--`.
    const print = 'console.log(JSON.stringify(process.argv.slice(1)))';
    const { lines } = await ends('node', '-e', print, 'a b', '--pool', '');
    expect(lines).toEqual(['["a b","--pool",""]']);
    expect(await service.allSessions()).toBe(0);
  });

  test.describe('at a plan of two browsers', () => {
    test.use({ serviceOptions: { concurrentBrowsers: 2 } });

    test('twelve connections queue', async ({ newConsumer, service }) => {
      const consumer = await newConsumer('latest', 'module', ['ws']);
      await consumer.write({ 'tool.mjs': CONNECT_MANY });
      const { code, lines, stderr } = await start(consumer, service, ['--', 'node', 'tool.mjs']).end;
      expect(lines, stderr).toEqual([expect.stringMatching(/^most [12]$/)]);
      expect(code).toBe(0);
      expect(await service.allSessions()).toBe(12);
      expect(await service.running()).toEqual([]);
    });
  });
});

import { chromium } from '@playwright/test';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { recordOf } from '../../support/e2e/runner-records.ts';
import { startCommand } from '../../support/e2e/start-command.ts';

/** `poolwright exec` of the packed package, with tools that know nothing of it. */

/** The ways in which tools get a browser, one after the other, each with a new one. */
const EACH_WAY = `
import { chromium } from '@playwright/test';
import puppeteer from 'puppeteer-core';
const endpoint = process.argv[2];
const { CHROME_PATH, PUPPETEER_EXECUTABLE_PATH, POOLWRIGHT_ENDPOINT } = process.env;
const show = async (way, page) => {
  await page.goto('data:text/html,<title>' + way + '</title>');
  console.log(await page.title());
};
const ways = {
  'Playwright starts it': () => chromium.launch({ executablePath: CHROME_PATH }),
  'Puppeteer starts it on a pipe': () => puppeteer.launch({ pipe: true, executablePath: PUPPETEER_EXECUTABLE_PATH }),
  'Puppeteer starts it on a port': () => puppeteer.launch({ executablePath: PUPPETEER_EXECUTABLE_PATH }),
  'Playwright connects to it': () => chromium.connectOverCDP(endpoint),
  'Playwright connects to it by its own protocol': () => chromium.connect(POOLWRIGHT_ENDPOINT + '/playwright'),
};
for (const [way, get] of Object.entries(ways)) {
  const browser = await get();
  await show(way, await browser.newPage());
  await browser.close();
}
const connected = await puppeteer.connect({ browserWSEndpoint: endpoint });
const [first] = await connected.pages();
await show('Puppeteer connects to it', first);
await connected.close();`;

/** Files in both directions, for a browser that is connected to and one that is launched. */
const FILES = `
import { readFileSync, writeFileSync } from 'node:fs';
import { chromium } from '@playwright/test';
writeFileSync('up.txt', 'uploaded');
const content = \`<input type="file"><a download="down.txt" href="data:text/plain,downloaded">get</a>\`;
for (const browser of [
  await chromium.connectOverCDP(process.env.POOLWRIGHT_ENDPOINT),
  await chromium.launch({ executablePath: process.env.CHROME_PATH }),
]) {
  const page = await browser.newPage();
  await page.setContent(content);
  await page.setInputFiles('input', 'up.txt');
  console.log(await page.evaluate(() => document.querySelector('input').files[0].text()));
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('a')]);
  await download.saveAs('down.txt');
  console.log(readFileSync('down.txt', 'utf8'));
  await browser.close();
}`;

/** Two tools on one program's port, which both visit a server of this machine. */
const SHARE = `
import puppeteer from 'puppeteer-core';
const one = await puppeteer.launch({ executablePath: process.env.CHROME_PATH });
const two = await puppeteer.connect({ browserWSEndpoint: one.wsEndpoint() });
for (const browser of [two, one]) {
  const page = await browser.newPage();
  console.log((await page.goto(process.argv[2])).status());
}
await two.disconnect();
await one.close();`;

/** By Playwright's own protocol. */
const CONNECT_OWN = `
import { chromium } from '@playwright/test';
const browser = await chromium.connect(process.env.POOLWRIGHT_ENDPOINT + '/playwright');
const page = await browser.newPage();
await page.goto('data:text/html,<title>connected</title>');
console.log(await page.title());
await browser.close();`;

/** As tools do that know only a port. */
const CONNECT_TO_PORT = `
const { WebSocket } = await import('ws');
const get = async (path) => await (await fetch('http://127.0.0.1:' + process.argv[2] + '/json/' + path)).json();
const { domains } = await get('protocol');
console.log(domains.some(({ domain, commands }) => domain === 'Page' && commands.length > 50));
const [page] = await get('list');
const socket = new WebSocket(page.webSocketDebuggerUrl);
socket.on('open', () => socket.send('{"id":1,"method":"Runtime.evaluate","params":{"expression":"1 + 1"}}'));
socket.on('message', (data) => {
  console.log(JSON.parse(data).result.result.value);
  socket.close();
});`;

/** As Chromium is started by hand. The shell ends with the program. */
const FIND_PORT = `
"$CHROME_PATH" --remote-debugging-port=0 --user-data-dir=new/profile & program=$!
until [ -s new/profile/DevToolsActivePort ] || ! kill -0 $program; do sleep 0.1; done
head -n 1 new/profile/DevToolsActivePort && kill $program && wait $program`;

/** Connects 50 times at once, and uses each browser. */
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
await Promise.all(Array.from({ length: 50 }, use));
console.log('most', most);`;

/** Launches three browsers, reports the programs, and waits. */
const HANG = `
import puppeteer from 'puppeteer-core';
const launch = () => puppeteer.launch({ pipe: true, executablePath: process.env.CHROME_PATH });
const browsers = await Promise.all([launch(), launch(), launch()]);
console.log(JSON.stringify({ pid: process.pid, programs: browsers.map((each) => each.process().pid) }));
setInterval(() => undefined, 1000);`;

test.describe('tools that start or connect to a browser', () => {
  test.use({ browsers: 'shell' });
  test.setTimeout(240_000);

  test('Playwright and Puppeteer start it or connect to it, in each way', async ({ newConsumer, service }) => {
    const consumer = await newConsumer('latest', 'module', ['puppeteer-core']);
    await consumer.write({ 'tool.mjs': EACH_WAY });
    const args = ['exec', '--', 'node', 'tool.mjs', '{endpoint}'];
    const { code, lines, stderr } = await startCommand(consumer, service, args).end;
    expect(lines, stderr).toEqual([
      'Playwright starts it',
      'Puppeteer starts it on a pipe',
      'Puppeteer starts it on a port',
      'Playwright connects to it',
      'Playwright connects to it by its own protocol',
      'Puppeteer connects to it',
    ]);
    expect(code).toBe(0);
    const { runner, sessions } = await recordOf(consumer);
    expect(runner).toBe('exec');
    expect(sessions.map(({ endReason, endConfirmed }) => [endReason, endConfirmed])).toEqual(
      lines.map(() => ['finished', true]),
    );
    expect(await service.running()).toEqual([]);
  });

  test('uploads and downloads', async ({ newConsumer, service }) => {
    const consumer = await newConsumer('latest', 'module');
    await consumer.write({ 'tool.mjs': FILES });
    const { code, lines, stderr } = await startCommand(consumer, service, ['exec', 'node', 'tool.mjs']).end;
    expect(lines, stderr).toEqual(['uploaded', 'downloaded', 'uploaded', 'downloaded']);
    expect(code).toBe(0);
  });

  test("two tools share the browser on a program's port", { tag: '@slow' }, async ({ newConsumer, service, site }) => {
    const consumer = await newConsumer('latest', 'module', ['puppeteer-core']);
    await consumer.write({ 'tool.mjs': SHARE });
    const { code, lines, stderr } = await startCommand(consumer, service, ['exec', 'node', 'tool.mjs', site.url]).end;
    expect(lines, stderr).toEqual(['200', '200']);
    expect(code).toBe(0);
    expect(await service.allSessions()).toBe(1);
  });

  test("a script that finds the program's port in a directory that the browser makes", async ({
    newConsumer,
    service,
  }) => {
    const consumer = await newConsumer();
    await consumer.write({ 'tool.sh': FIND_PORT });
    const { code, lines, stderr } = await startCommand(consumer, service, ['exec', 'sh', 'tool.sh']).end;
    expect(lines, stderr).toEqual([expect.stringMatching(/^\d+$/)]);
    expect(code).toBe(0);
    expect(await service.running()).toEqual([]);
  });

  test('a tool that knows only a port', async ({ newConsumer, service }) => {
    const consumer = await newConsumer('latest', 'module', ['ws']);
    await consumer.write({ 'tool.mjs': CONNECT_TO_PORT });
    const { code, lines, stderr } = await startCommand(consumer, service, ['exec', 'node', 'tool.mjs', '{port}']).end;
    expect(lines, stderr).toEqual(['true', '2']);
    expect(code).toBe(0);
    expect(await service.allSessions()).toBe(1);
    expect(await service.running()).toEqual([]);
  });

  test('serve: browsers until it is stopped', async ({ newConsumer, service }) => {
    const consumer = await newConsumer();
    const { child, firstLine, end } = startCommand(consumer, service, ['serve', '--json']);
    const { endpoint } = JSON.parse(await firstLine);
    const browser = await chromium.connectOverCDP(endpoint);
    expect(await service.running()).toHaveLength(1);
    const ended = new Promise((resolve) => browser.once('disconnected', resolve));
    child.kill('SIGINT');
    await ended;
    expect(await end).toMatchObject({ code: 0, stderr: expect.stringContaining('1 connection on 1 hosted browser') });
    expect(await service.running()).toEqual([]);
  });

  test("another version of Playwright's own protocol is one clear error", async ({ newConsumer, service }) => {
    const consumer = await newConsumer('oldest', 'module');
    await consumer.write({ 'tool.mjs': CONNECT_OWN });
    const { code, stderr } = await startCommand(consumer, service, ['exec', 'node', 'tool.mjs']).end;
    expect(stderr).toMatch(
      /connect\(\): the tool has Playwright 1\.48, and 1\.\d+\.\d+ is beside poolwright\. Install the same version\./,
    );
    expect(code).toBe(1);
    expect(await service.running()).toEqual([]);
  });

  test('a program and a command that are killed leave no browser', async ({ newConsumer, service }) => {
    const consumer = await newConsumer('latest', 'module', ['puppeteer-core']);
    await consumer.write({ 'tool.mjs': HANG });
    const { firstLine, end } = startCommand(consumer, service, ['exec', '--', 'node', 'tool.mjs']);
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
    const { child, firstLine } = startCommand(consumer, service, ['exec', '--', 'node', 'tool.mjs']);
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
    const ends = async (...args: string[]) => await startCommand(consumer, service, ['exec', ...args]).end;
    expect(await ends('--', 'sh', '-c', 'exit 7')).toMatchObject({ code: 7, signal: null });
    expect(await ends('--', 'sh', '-c', 'kill -TERM $$')).toMatchObject({ code: null, signal: 'SIGTERM' });
    expect(await ends('--', 'no-such-command')).toMatchObject({
      code: 127,
      stderr: expect.stringContaining('`no-such-command` could not be started: there is no such command'),
    });
    expect(await ends('--', './package.json/command')).toMatchObject({
      code: 126,
      stderr: expect.stringContaining('`./package.json/command` could not be started: spawn ENOTDIR'),
    });
    // One line: no run has begun.
    expect(await ends('')).toMatchObject({
      code: 2,
      stderr: 'poolwright: `poolwright exec`: the command is empty. [OPTIONS_INVALID]\n',
    });
    // What follows the command is the command's, also without `--`.
    const print = 'console.log(JSON.stringify(process.argv.slice(1)))';
    const { lines } = await ends('node', '-e', print, 'a b', '--pool', '');
    expect(lines).toEqual(['["a b","--pool",""]']);
    expect(await service.allSessions()).toBe(0);
  });

  test.describe('at a plan of five browsers', () => {
    test.use({ serviceOptions: { concurrentBrowsers: 5 } });

    test('fifty connections queue', { tag: '@slow' }, async ({ newConsumer, service }) => {
      const consumer = await newConsumer('latest', 'module', ['ws']);
      await consumer.write({ 'tool.mjs': CONNECT_MANY });
      const { code, lines, stderr } = await startCommand(consumer, service, ['exec', 'node', 'tool.mjs']).end;
      expect(lines, stderr).toEqual([expect.stringMatching(/^most [1-5]$/)]);
      expect(code).toBe(0);
      expect(await service.allSessions()).toBe(50);
      expect(await service.running()).toEqual([]);
    });
  });
});

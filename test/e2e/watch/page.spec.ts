import { request as httpRequest } from 'node:http';
import type { Page } from '@playwright/test';
import { WebSocket } from 'ws';
import { startWatchServer, type WatchServer } from '../../../src/watch/server/watch-server.ts';
import { test as base, expect } from '../../support/e2e/fixtures.ts';
import { aFinishedTest, aSlot, ScriptedRun, ScriptedRuns } from '../../support/watch/scripted-runs.ts';

/** The server and the page of `poolwright watch`, in a real browser, on scripted runs. */

interface Fixtures {
  runs: ScriptedRuns;
  server: WatchServer;
  jpeg: Buffer;
}

const test = base.extend<Fixtures>({
  runs: async ({}, use) => {
    await use(new ScriptedRuns());
  },
  server: async ({ runs }, use) => {
    const server = await startWatchServer(runs);
    await use(server);
    await server.close();
  },
  jpeg: async ({ page }, use) => {
    await page.setContent('<body style="background: teal"><h1>A page</h1>');
    await use(await page.screenshot({ type: 'jpeg', clip: { x: 0, y: 0, width: 320, height: 200 } }));
  },
});

/** A request as another program on this machine sends it. */
function ask(port: number, path: string, headers: Record<string, string> = {}, method = 'GET') {
  return new Promise<{ status: number; cookie: string | undefined; size: number; policy: string | undefined }>(
    (resolve, reject) => {
      const request = httpRequest({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
        });
        response.on('end', () => {
          const { 'set-cookie': [cookie] = [], 'content-security-policy': policy } = response.headers;
          resolve({ status: response.statusCode ?? 0, cookie, size, policy: policy?.toString() });
        });
      });
      request.on('error', reject).end();
    },
  );
}

/** How the server responds to a WebSocket: `open`, or the status. */
function connect(port: number, path: string, headers: Record<string, string>): Promise<string> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers });
    socket.on('error', () => undefined);
    socket.once('open', () => {
      socket.close();
      resolve('open');
    });
    socket.once('unexpected-response', (_request, { statusCode }) => resolve(String(statusCode)));
  });
}

test('gives nothing to others, and the page to the browser with the one-time address', async ({ server, runs }) => {
  runs.add(new ScriptedRun());
  const { port } = server;
  const entry = new URL(server.address('terminal')).pathname;
  expect(await ask(port, '/')).toMatchObject({ status: 403, size: 0, cookie: undefined });
  expect(await ask(port, `${entry}x`)).toMatchObject({ status: 403, size: 0, cookie: undefined });
  expect(await ask(port, entry, { host: `attacker.example:${port}` })).toMatchObject({ status: 403, size: 0 });
  expect(await ask(port, entry, {}, 'POST')).toMatchObject({ status: 403, size: 0 });
  const { status, cookie = '' } = await ask(port, entry);
  expect(status).toBe(200);
  expect(cookie).toMatch(/; Path=\/[0-9a-f]{32}\/; HttpOnly; SameSite=Strict$/);
  expect(await ask(port, entry), 'the address is valid once').toMatchObject({ status: 403, size: 0 });

  const [pair = ''] = cookie.split(';');
  const [, path = ''] = /Path=([^;]+)/.exec(cookie) ?? [];
  const granted = await ask(port, path, { cookie: pair });
  expect(granted.status).toBe(200);
  expect(granted.policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'");
  expect(await ask(port, path)).toMatchObject({ status: 403, size: 0 });
  expect(await ask(port, path, { cookie: `${pair}x` })).toMatchObject({ status: 403, size: 0 });
  expect(await ask(port, path, { cookie: pair, host: `attacker.example:${port}` })).toMatchObject({ status: 403 });

  const own = { origin: `http://127.0.0.1:${port}`, cookie: pair };
  expect(await connect(port, `${path}socket`, own)).toBe('open');
  expect(await connect(port, `${path}socket`, { origin: own.origin })).toBe('403');
  expect(await connect(port, `${path}socket`, { cookie: pair })).toBe('403');
  expect(await connect(port, `${path}socket`, { ...own, origin: 'http://attacker.example' })).toBe('403');
  expect(await connect(port, `${path}socket`, { ...own, origin: `http://127.0.0.1:${port + 1}` })).toBe('403');
  expect(await connect(port, `${path}socket`, { ...own, host: 'attacker.example' })).toBe('403');
});

/** Opens the page; returns what it complains about. */
async function open(page: Page, server: WatchServer): Promise<string[]> {
  const said: string[] = [];
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(String(error)));
  await page.goto(server.address('test'));
  await expect(page.getByRole('heading', { name: 'poolwright watch' })).toBeVisible();
  return said;
}

test('shows runs, pictures and failures as data, and asks for nothing in the dialog but one slot', async ({
  server,
  runs,
  jpeg,
  page,
}) => {
  const said = await open(page, server);
  await expect(page.getByRole('heading', { name: 'No run yet' })).toBeVisible();
  const run = new ScriptedRun({
    slots: [
      aSlot(),
      aSlot({ slot: 1, sessionId: null, test: null, pages: [], waitsFor: 'waiting for the pool to have one ready' }),
    ],
  });
  runs.add(run);
  await expect(page.getByRole('heading', { name: 'checkout › pays with a saved card' })).toBeVisible();
  await expect(page.getByText('Waiting for the pool to have one ready.')).toBeVisible();
  await expect.poll(() => run.demands.at(-1)).toEqual({ 0: 'small', 1: 'small' });
  await runs.picture(run, { data: jpeg });
  await expect(page.locator('.tile canvas').first()).toBeVisible();
  // The browser's first page, which may open at any time, shows nothing.
  runs.changeSlot(run, 0, { pages: [...(aSlot().pages ?? []), { target: 'first', url: 'about:blank' }] });
  await runs.picture(run, { target: 'first', url: 'about:blank', data: jpeg });
  await expect(page.locator('.tile .address').first()).toHaveText('shop.example/checkout?step=payment');
  runs.finish(run, aFinishedTest({ title: '<img src=x onerror=alert(1)>', status: 'failed', ok: false }), jpeg);
  await expect(page.getByRole('heading', { name: '<img src=x onerror=alert(1)>' })).toBeVisible();
  await expect(page.getByRole('status')).toHaveText('Failed: <img src=x onerror=alert(1)>');
  await expect.poll(() => page.evaluate(`document.querySelector('.card img').naturalWidth`)).toBeGreaterThan(100);

  // A small picture is as large as it is.
  await page.getByRole('button', { name: /^Enlarge the last picture of <img/ }).click();
  const last = page.getByRole('img', { name: 'The last picture of the test' });
  await expect(last).toHaveJSProperty('naturalWidth', 320);
  expect((await last.boundingBox())?.width).toBe(320);
  await page.keyboard.press('Escape');

  await page.getByRole('button', { name: 'Enlarge slot 0' }).click();
  await expect.poll(() => run.demands.at(-1)).toEqual({ 0: 'large' });
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => run.demands.at(-1)).toEqual({ 1: 'large' });
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toBeHidden();
  await expect.poll(() => run.demands.at(-1)).toEqual({ 0: 'small', 1: 'small' });
  expect(said).toEqual([]);
  await page.close();
  await expect.poll(() => run.demands.at(-1)).toEqual({});
});

test('sends mouse, keys and text to a page on hold, and gives the keyboard back', async ({
  server,
  runs,
  jpeg,
  page,
}) => {
  const said = await open(page, server);
  const run = new ScriptedRun({ slots: [aSlot({ hold: { reason: 'Log in by hand', until: Date.now() + 600_000 } })] });
  runs.add(run);
  await expect(page.getByText('Log in by hand.')).toBeVisible();
  await page.getByRole('button', { name: 'Take over' }).click();
  await expect.poll(() => run.demands.at(-1)).toEqual({ 0: 'large' });
  await runs.picture(run, { data: jpeg });
  const field = page.getByRole('textbox', { name: /^The page\./ });
  const { x = 0, y = 0, width = 0, height = 0 } = (await field.boundingBox()) ?? {};
  await page.mouse.click(x + width / 4, y + height / 2);
  await expect(page.getByText('Your keyboard goes to the page;')).toBeVisible();
  await page.keyboard.press('a');
  await page.keyboard.press('Escape');
  await page.keyboard.insertText('日本');
  const kinds = () => run.inputs.map(({ input }) => ('type' in input ? `${input.kind} ${input.type}` : input.kind));
  await expect.poll(kinds).toContain('text');
  expect(kinds().filter((kind) => kind !== 'mouse move')).toEqual([
    'mouse down',
    'mouse up',
    'key down',
    'key up',
    'key down',
    'key up',
    'text',
  ]);
  const down = run.inputs.find(({ input }) => input.kind === 'mouse' && input.type === 'down')?.input;
  expect(down).toMatchObject({ x: expect.closeTo(0.25, 2), y: expect.closeTo(0.5, 2), button: 0, clickCount: 1 });
  await page.keyboard.press('Control+Shift+Enter');
  await expect(page.getByRole('button', { name: 'Close' })).toBeFocused();
  await page.getByRole('dialog').getByRole('button', { name: 'Continue the test' }).click();
  await expect.poll(() => run.released).toEqual([0]);
  expect(said).toEqual([]);
});

test('has one picture of a slot in flight, and none after the page has gone', async ({ server, runs, jpeg }) => {
  const run = new ScriptedRun();
  runs.add(run);
  const { port } = server;
  const { cookie = '' } = await ask(port, new URL(server.address('test')).pathname);
  const [, path = ''] = /Path=([^;]+)/.exec(cookie) ?? [];
  const origin = `http://127.0.0.1:${port}`;
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}socket`, { headers: { origin, cookie } });
  const numbers: number[] = [];
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) numbers.push(JSON.parse(data.subarray(4, 4 + data.readUInt32BE()).toString()).number);
  });
  await new Promise((resolve) => socket.once('open', resolve));
  socket.send(JSON.stringify({ type: 'demand', slots: [{ run: run.view.id, slot: 0, size: 'small' }] }));
  await expect.poll(() => run.demands.at(-1)).toEqual({ 0: 'small' });
  const sent = [1, 2, 3].map(() => runs.picture(run, { data: jpeg }));
  await expect.poll(() => numbers).toEqual([1]);
  // A round trip on the same connection: what was sent before it has come.
  const pong = new Promise((resolve) => socket.once('pong', resolve));
  socket.ping();
  await pong;
  expect(numbers).toEqual([1]);
  socket.send(JSON.stringify({ type: 'shown', number: 1 }));
  await Promise.all(sent);
  await expect.poll(() => numbers).toEqual([1, 2]);
  socket.terminate();
  await expect.poll(() => run.demands.at(-1)).toEqual({});
  await runs.picture(run, { data: jpeg });
});

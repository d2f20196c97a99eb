import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium as playwright } from '@playwright/test';
import { WebSocketServer } from 'ws';
import { limitsFile, readLimits } from '../../../src/broker/ledger/known-limits.ts';
import { type FarChromium, startFarChromium } from '../../support/cdp/far-chromium.ts';
import { test as base, expect } from '../../support/e2e/fixtures.ts';
import { freePort } from '../../support/free-port.ts';
import { localChromium } from '../../support/local-chromium.ts';
import { poolwright } from '../../support/run-cli.ts';

/** `doctor` with browsers of the user's own: addresses that are no CDP, and providers that lack something. */

const test = base.extend<{ chromium: FarChromium; port: string; failure(address: string): Promise<string> }>({
  chromium: async ({}, use) => {
    const chromium = await startFarChromium([]);
    await use(chromium);
    await chromium.close();
  },
  port: async ({ chromium }, use) => await use(new URL(chromium.cdpUrl).host),
  failure: async ({}, use) => {
    await use(async (address) => {
      const { code, stdout } = await poolwright(['doctor'], { POOLWRIGHT_CDP_URL: address });
      expect(code, stdout).toBe(1);
      const failed = stdout.split('\n').filter((line) => line.startsWith('FAILED'));
      expect(failed).toHaveLength(1);
      expect(stdout).not.toContain('s3cret');
      return failed[0] ?? '';
    });
  },
});

test('a web site: what it is, and what to use', async ({ failure }) => {
  const site = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<h1>shop</h1>'));
  await once(site.listen(0, '127.0.0.1'), 'listening');
  const host = `127.0.0.1:${(site.address() as AddressInfo).port}`;
  const found = `At ${host} is a web site without a debugging port. Use the address of a browser`;
  expect(await failure(`http://${host}/?token=s3cret`)).toContain(`browsers: ${found}`);
  expect(await failure(`ws://${host}/?token=s3cret`)).toContain(found);
  site.close();
});

test('a Playwright server, a WebSocket without CDP, and one that asks for a token', async ({ failure }) => {
  const server = await playwright.launchServer({ executablePath: await localChromium(), args: ['--no-sandbox'] });
  const endpoint = server.wsEndpoint();
  const { host } = new URL(endpoint);
  const found = `At ${host} is a Playwright server (\`run-server\`, \`launchServer\`): it has Playwright's own protocol`;
  expect(await failure(endpoint)).toContain(found);
  expect(await failure(`http://${host}`)).toContain(found);
  await server.close();

  const echo = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  echo.on('connection', (socket) => socket.on('message', (data) => socket.send(String(data))));
  await once(echo, 'listening');
  const { port } = echo.address() as AddressInfo;
  expect(await failure(`ws://127.0.0.1:${port}/s3cret`)).toContain(
    'what it responds to Browser.getVersion is not CDP. At 127.0.0.1',
  );
  echo.close();

  const locked = createServer((_, response) => response.writeHead(401).end());
  locked.on('upgrade', (_, socket) => socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n'));
  await once(locked.listen(0, '127.0.0.1'), 'listening');
  expect(await failure(`ws://127.0.0.1:${(locked.address() as AddressInfo).port}/?token=s3cret`)).toContain(
    'refuses without a valid token or password. Use its ws:// address, with the token.',
  );
  locked.close();
});

test('a closed port, an address of an earlier start, and the address of a page', async ({ failure, port }) => {
  expect(await failure(`ws://127.0.0.1:${await freePort()}/s3cret`)).toContain(
    'ECONNREFUSED. Start it, or correct its address.',
  );
  expect(await failure(`ws://${port}/devtools/browser/s3cret`)).toContain(
    `Use http://${port}: the ws:// address changes with each start.`,
  );
  const targets = (await (await fetch(`http://${port}/json/list`)).json()) as { webSocketDebuggerUrl: string }[];
  expect(await failure(targets[0]?.webSocketDebuggerUrl ?? '')).toContain(
    `This is the address of one page. Use that of its browser: http://${port}.`,
  );
});

/** A provider of one browser. @param more its other functions */
const provider = (cdpUrl: string, more: string) => `
let label;
export default {
  async acquire(request) { label = request.label; return { id: 'one', cdpUrl: '${cdpUrl}' }; },
  ${more}
};`;

test('a provider: a page evaluates, `list` has the label, and `release` may be repeated', async ({
  chromium,
  port,
  newConsumer,
}) => {
  const consumer = await newConsumer();
  const doctor = async (more: string) => {
    await consumer.write({ 'browsers.mjs': provider(chromium.cdpUrl, more) });
    const { stdout } = await poolwright(['doctor'], { POOLWRIGHT_PROVIDER: 'browsers.mjs' }, consumer.directory);
    return stdout;
  };
  const well = await doctor(
    `async release() {}, async list() { return [{ id: 'one', label }]; }, limit: async () => 3`,
  );
  expect(well).toMatch(/^ok +session: leased in .*, a page in \d+ ms, released$/m);
  expect(well).toMatch(/^ok +list: returns the browser with its label$/m);
  expect(well).toMatch(/^ok +release: resolves for a browser that has ended, too$/m);
  expect(well).toMatch(/^ok +limit: 3 browsers at once$/m);
  const limits = limitsFile(consumer.directory, { kind: 'provider', file: './browsers.mjs', isOption: true });
  expect(readLimits(limits).concurrentBrowsers).toBe(3);
  expect(well).toMatch(/^warning usage: the provider has no `usage`/m);

  const refuses = 'async release() { if (this.ended) throw new Error("unknown id"); this.ended = true; }';
  const half = await doctor(`${refuses}, async list() {
    return [{ id: 'one' }];
  }`);
  expect(half).toMatch(/^warning list: it returns the browser without its label: after a crash of this machine/m);
  expect(half).toMatch(/^warning release: the second call for a browser must resolve\. .*unknown id/m);
  const nothing = await doctor('async release() {}, async list() { return []; }');
  expect(nothing).toMatch(/^warning list: it does not return the browser that runs: after a crash/m);
  const left = (await (await fetch(`http://${port}/json/list`)).json()) as { type: string }[];
  expect(left.filter(({ type }) => type === 'page')).toHaveLength(1);
});

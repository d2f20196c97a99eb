import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium } from '@playwright/test';
import { parseNetworkRules } from '../../../src/options/network-rules.ts';
import { expect, test } from '../../support/cdp/fixtures.ts';

test('restores and saves the local storage of a third-party frame', async ({ browserUrl, open }) => {
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://any');
    response.setHeader('content-type', 'text/html').end(`<!doctype html>${searchParams.get('html') ?? ''}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const transport = await open(await browserUrl(false), { proxiedHosts: parseNetworkRules('<loopback>') });
  const browser = await chromium.connectOverCDP(transport);
  const origin = `http://127.0.0.1:${port}`;
  const origins = [{ origin, localStorage: [{ name: 'restored', value: '1' }] }];
  const context = await browser.newContext({ storageState: { cookies: [], origins } });
  const page = await context.newPage();
  await page.goto(`http://localhost:${port}/?html=${encodeURIComponent(`<iframe src="${origin}/"></iframe>`)}`);
  const frame = page.frames()[1];
  expect(await frame?.evaluate(`localStorage.getItem('restored')`)).toBe('1');
  await frame?.evaluate(`localStorage.setItem('saved', '2')`);
  const { origins: saved } = await context.storageState();
  expect(saved).toEqual([
    {
      origin,
      localStorage: expect.arrayContaining([
        { name: 'restored', value: '1' },
        { name: 'saved', value: '2' },
      ]),
    },
  ]);
  await browser.close();
  server.closeAllConnections();
  server.close();
});

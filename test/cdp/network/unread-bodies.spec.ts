import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { BrowserContext, Page, Request } from '@playwright/test';
import fc from 'fast-check';
import { test as base, expect, LISTED } from '../../support/cdp/proxy-fixtures.ts';
import { propertyRuns, slowIf } from '../../support/property-runs.ts';

/** Bodies that a page reads in part, later, or never: the request ends as in a browser that reaches the server. */

/** The ways in which a page reads a body; each is the body of a function that returns the result. */
const READERS = {
  'not at all': 'window.kept = await fetch(url); return kept.status;',
  'not at all, and it is collected': `await fetch(url); for (let at = 0; at < 50; at += 1) new ArrayBuffer(1_000_000);`,
  'not at all, and it is opaque': `window.kept = await fetch(url, { mode: 'no-cors' }); return kept.type;`,
  'as text': 'return (await (await fetch(url)).text()).length;',
  'in parts': 'let size = 0; for await (const part of (await fetch(url)).body) size += part.length; return size;',
  'the first part': 'window.reader = (await fetch(url)).body.getReader(); return typeof (await reader.read()).value;',
  'as a clone': 'window.kept = await fetch(url); return (await kept.clone().text()).length;',
  'not its clones': 'window.kept = await fetch(url); window.copy = kept.clone(); return copy.bodyUsed;',
  'one half of two': 'window.kept = (await fetch(url)).body.tee(); return (await new Response(kept[0]).text()).length;',
  'until it cancels': `const { body } = await fetch(url); await body.cancel('enough'); return body.locked;`,
  'the first part, then it cancels':
    'const reader = (await fetch(url)).body.getReader(); await reader.read(); return await reader.cancel();',
  'until it aborts': 'const abort = new AbortController(); window.kept = await fetch(url, abort); abort.abort();',
  'by XMLHttpRequest': `
    const asked = new XMLHttpRequest();
    const ended = new Promise((resolve) => { asked.onloadend = resolve; });
    asked.open('GET', url);
    asked.send();
    await ended;
    return [asked.status, asked.responseText.length];`,
  'by an XMLHttpRequest without listeners': `window.asked = new XMLHttpRequest(); asked.open('GET', url); asked.send();`,
};
type Reader = keyof typeof READERS;

/** Readers that stop before the end: what had arrived by then is a matter of time. */
const STOPS = /cancels|aborts/;

interface Case {
  reader: Reader;
  size: number;
  /** In how many parts the server sends it. */
  parts: number;
  framing: 'chunked' | 'length' | 'gzip';
  /** Whether the server closes the connection before the end. */
  isCut: boolean;
}

const cases: fc.Arbitrary<Case> = fc.record({
  reader: fc.constantFrom(...(Object.keys(READERS) as Reader[])),
  size: fc.oneof(fc.constantFrom(1, 65_535, 65_536, 65_537, 524_289), fc.integer({ min: 2, max: 4_000_000 })),
  parts: fc.integer({ min: 1, max: 4 }),
  framing: fc.constantFrom('chunked', 'length', 'gzip'),
  isCut: fc.boolean(),
});

/** Time between two parts, in ms: such a body counts as a stream. */
const BETWEEN_MS = 70;

async function send(response: ServerResponse, { size, parts, framing, isCut }: Case): Promise<void> {
  const text = Buffer.alloc(size, 'text of a body ');
  const body = framing === 'gzip' ? gzipSync(text) : text;
  response.writeHead(200, {
    'content-type': 'text/plain',
    ...(framing === 'gzip' && { 'content-encoding': 'gzip' }),
    // A part is missing, so that a cut is one.
    ...(framing === 'length' && { 'content-length': body.length + (isCut ? 1 : 0) }),
  });
  response.flushHeaders();
  const length = Math.ceil(body.length / parts);
  for (let at = 0; at < body.length; at += length) {
    await pause(BETWEEN_MS);
    if (response.destroyed) return;
    response.write(body.subarray(at, at + length));
  }
  await pause(BETWEEN_MS);
  if (isCut) response.destroy();
  else response.end();
}

const test = base.extend<{ port: number; bodies: Map<string, ServerResponse> }>({
  bodies: async ({}, use) => await use(new Map()),
  port: async ({ bodies }, use) => {
    const server: Server = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://any');
      response.on('error', () => undefined);
      if (pathname === '/held') return void bodies.set(String(request.headers.host), response);
      const asked = searchParams.get('case');
      if (pathname === '/body' && asked !== null) return void send(response, JSON.parse(asked));
      const script = asked === null ? '' : scriptOf(JSON.parse(asked));
      return response.setHeader('content-type', 'text/html').end(`<script>${script}</script>`);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    await use((server.address() as AddressInfo).port);
    server.closeAllConnections();
    server.close();
  },
});

function scriptOf(one: Case): string {
  const url = `/body?case=${encodeURIComponent(JSON.stringify(one))}`;
  return `window.result = (async (url) => { ${READERS[one.reader]} })(${JSON.stringify(url)}).catch(({ name }) => name);`;
}

/** Opens a page that reads a body, and returns what the page and the client see of it. */
async function observe(context: BrowserContext, origin: string, one: Case): Promise<object> {
  const page = (await context.newPage()) as Page;
  const events: string[] = [];
  const note = (event: string) => (request: Request) => {
    if (new URL(request.url()).pathname !== '/body') return;
    events.push([event, request.failure()?.errorText].filter(Boolean).join(' '));
  };
  page.on('request', note('request'));
  page.on('requestfinished', note('finished'));
  page.on('requestfailed', note('failed'));
  const responded = page.waitForEvent('response', (response) => new URL(response.url()).pathname === '/body');
  responded.catch(() => undefined);
  await page.goto(`${origin}/page?case=${encodeURIComponent(JSON.stringify(one))}`, { waitUntil: 'networkidle' });
  const result = await page.evaluate('result');
  const response = await responded;
  const size = STOPS.test(one.reader) || one.isCut ? null : (await response.body()).length;
  await page.close();
  return { result, status: response.status(), size, events };
}

const RUNS = propertyRuns(120, 16);

// Each time, streams.spec.ts has a reader that stops and one that does not read.
test(
  'ends each request as a local browser does, whatever the page reads of its body',
  slowIf(true),
  async ({ far, port }) => {
    test.setTimeout(60_000 + 5_000 * RUNS.numRuns);
    await fc.assert(
      fc.asyncProperty(cases, async (one) => {
        const [direct, proxied] = await Promise.all([
          observe(far, `http://localhost:${port}`, one),
          observe(far, `http://${LISTED}:${port}`, one),
        ]);
        assert.deepEqual(proxied, direct);
      }),
      { ...RUNS, interruptAfterTimeLimit: 30_000 + 5_000 * RUNS.numRuns },
    );
  },
);

for (const [how, leave] of Object.entries<(page: Page, origin: string) => Promise<unknown>>({
  'goes elsewhere': (page, origin) => page.goto(`${origin}/elsewhere`),
  'is closed': (page) => page.close(),
})) {
  test(`cuts an unread body when its page ${how}`, async ({ far, port, bodies }) => {
    for (const origin of [`http://localhost:${port}`, `http://${LISTED}:${port}`]) {
      const page = (await far.newPage()) as Page;
      await page.goto(origin);
      await page.evaluate(`void fetch('/held').then((kept) => { window.kept = kept })`);
      await expect.poll(() => bodies.has(new URL(origin).host)).toBe(true);
      const body = bodies.get(new URL(origin).host) as ServerResponse;
      body.writeHead(200).write('begun');
      await page.waitForFunction('window.kept');
      await leave(page, origin);
      await expect.poll(() => body.closed, origin).toBe(true);
    }
  });
}

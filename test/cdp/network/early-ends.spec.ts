import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser, BrowserContext, Page, Request, Response } from '@playwright/test';
import { test as base, expect, LISTED } from '../../support/cdp/proxy-fixtures.ts';
import { fullLength, slowIf } from '../../support/property-runs.ts';

/**
 * Requests that end early, by the server or with their page: code that waits for them learns of it, as in a local
 * browser.
 */

/** What the server does with a request. */
const SERVERS = ['says nothing', 'sends half a body', 'closes the connection', 'closes it in the body'] as const;
/** What happens to the page that has sent it, or to the frame in which it was sent. */
const ENDS = ['stays', 'is left', 'is closed', 'loses its frame'] as const;

/** Scripts that send a request to `url` in a page or frame. None waits for it. */
const SENDERS = {
  'a fetch': `fetch(url).then((response) => response.text()).catch(() => {})`,
  'an XHR': `window.sent = new XMLHttpRequest(); sent.open('GET', url); sent.send()`,
  'an image': 'new Image().src = url',
  'a script': `document.head.append(Object.assign(document.createElement('script'), { src: url }))`,
  'a frame': `document.body.append(Object.assign(document.createElement('iframe'), { src: url }))`,
  'a worker': 'window.worker = new Worker(url)',
  'the fetch of a worker': `window.worker = new Worker(URL.createObjectURL(new Blob(['fetch("' + url + '").then((response) => response.text()).catch(() => {})'])))`,
  'a nested worker': `window.worker = new Worker(URL.createObjectURL(new Blob(['new Worker("' + url + '")'])))`,
  'the fetch of a service worker': `navigator.serviceWorker.register('/fetching.js?' + encodeURIComponent(url)).catch(() => {})`,
  'a service worker': `navigator.serviceWorker.register(url).catch(() => {})`,
} as const;
type Sender = keyof typeof SENDERS;

/** Time until what a local browser leaves open counts as open for ever, in ms. */
const LOCAL_MS = 1_000;

/** Resolves when the server receives a request for this address. */
type Arrivals = (url: string) => Promise<void>;

const test = base.extend<{ port: number; received: EventEmitter; arrived: Arrivals }>({
  received: async ({}, use) => await use(new EventEmitter().setMaxListeners(100)),
  arrived: async ({ received }, use) => {
    await use(async (url) => {
      await once(received, url);
    });
  },
  port: async ({ received }, use) => {
    const server = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://any');
      response.on('error', () => undefined);
      if (pathname === '/fetching.js') {
        const url = JSON.stringify([...searchParams.keys()][0]);
        response.setHeader('content-type', 'text/javascript');
        return void response.end(`oninstall = (event) => event.waitUntil(fetch(${url}).then((it) => it.text()))`);
      }
      if (pathname !== '/sent') return void response.setHeader('content-type', 'text/html').end('<body>');
      received.emit(`http://${request.headers.host}${request.url}`);
      const server = searchParams.get('server') ?? '';
      if (server === 'closes the connection') return void request.socket.destroy();
      if (server === 'says nothing') return undefined;
      response.writeHead(200, { 'content-type': 'text/javascript', 'content-length': 20, 'x-own': 'yes' });
      response.write('/* half of it', () => {
        if (server === 'closes it in the body') response.destroy();
      });
      return undefined;
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    await use((server.address() as AddressInfo).port);
    server.closeAllConnections();
    server.close();
  },
});

/** Everything that a client can wait for, except `response.finished()`: after a failure, Playwright never ends it. */
function waitsFor(context: BrowserContext, request: Request): Record<string, Promise<unknown>> {
  const ofResponse = async (wait: (response: Response) => Promise<unknown>) => {
    const response = await request.response();
    return response && (await wait(response));
  };
  const event = (name: 'requestfailed' | 'requestfinished') =>
    new Promise((resolve) => context.on(name as 'requestfailed', (ended) => ended === request && resolve(name)));
  return {
    'the end': Promise.race([event('requestfailed'), event('requestfinished')]),
    'request.allHeaders': request.allHeaders(),
    'request.response': request.response(),
    'request.sizes': request.sizes(),
    'response.allHeaders': ofResponse((response) => response.allHeaders()),
    'response.body': ofResponse((response) => response.body()),
    'response.securityDetails': ofResponse((response) => response.securityDetails()),
  };
}

interface Case {
  server: (typeof SERVERS)[number];
  end: (typeof ENDS)[number];
}

const CASES: readonly Case[] = SERVERS.flatMap((server) =>
  // A request that neither side ends goes on.
  ENDS.filter((end) => /closes/.test(server) === (end === 'stays')).map((end) => ({ server, end })),
);

/** Senders that `npm test` observes in every case: requests of pages, workers and service workers end differently. */
const THOROUGH: readonly Sender[] = ['a fetch', 'the fetch of a worker', 'the fetch of a service worker'];
/** These are requests of pages as a fetch is, and of workers as their fetch is. */
const LIKE_OTHERS: readonly Sender[] = ['an XHR', 'an image', 'a script', 'a nested worker', 'a service worker'];
/** For the others: each server and each end, but not each pair of them. */
const casesOf = (sender: Sender) =>
  THOROUGH.includes(sender)
    ? CASES
    : fullLength(
        CASES,
        CASES.filter(({ server, end }) => end === 'stays' || (server === 'says nothing') === (end === 'is left')),
      );

/** Sends a request, ends it, and returns the names of what still waits for it. */
async function observe(
  context: BrowserContext,
  origin: string,
  sender: Sender,
  { server, end }: Case,
  arrived: Arrivals,
) {
  const page = await context.newPage();
  await page.goto(`${origin}/page`);
  const path = `/sent?${new URLSearchParams({ server, sender, end })}`;
  const waiting = new Set<string>();
  const reported = new Promise<void>((resolve) => {
    context.on('request', (request) => {
      if (request.url() !== origin + path) return;
      for (const [name, wait] of Object.entries(waitsFor(context, request))) {
        waiting.add(name);
        const settled = () => waiting.delete(name);
        wait.then(settled, settled);
      }
      resolve();
    });
  });
  const arrival = arrived(origin + path);
  await send(page, origin + path, sender, end);
  await Promise.all([reported, arrival]);
  if (end === 'is left') await page.goto(`${origin}/elsewhere`);
  else if (end === 'is closed') await page.close();
  else if (end === 'loses its frame') await page.evaluate(`document.querySelector('iframe').remove()`);
  return () => [...waiting];
}

async function send(page: Page, url: string, sender: Sender, end: Case['end']): Promise<void> {
  const script = `((url) => { ${SENDERS[sender]}; })(${JSON.stringify(url)})`;
  if (end !== 'loses its frame') return void (await page.evaluate(script));
  await page.evaluate(`new Promise((resolve) => {
    document.body.append(Object.assign(document.createElement('iframe'), { src: '/frame', onload: resolve }));
  })`);
  await page.frames()[1]?.evaluate(script);
}

for (const sender of Object.keys(SENDERS) as Sender[]) {
  test(
    `${sender} that ends early: nobody waits in vain`,
    slowIf(LIKE_OTHERS.includes(sender)),
    async ({ far, port, arrived }) => {
      const browser = far.browser() as Browser;
      await Promise.all(
        casesOf(sender).map(async (one) => {
          const contexts = await Promise.all([browser.newContext(), browser.newContext()]);
          const [direct, proxied] = await Promise.all([
            observe(contexts[0], `http://localhost:${port}`, sender, one, arrived),
            observe(contexts[1], `http://${LISTED}:${port}`, sender, one, arrived),
          ]);
          await pause(LOCAL_MS);
          const local = direct();
          const inVain = () => proxied().filter((name) => !local.includes(name));
          await expect.poll(inVain, { message: `server ${one.server}, page ${one.end}`, timeout: 10_000 }).toEqual([]);
          await Promise.all(contexts.map((context) => context.close()));
        }),
      );
    },
  );
}

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, Page, Request, Worker } from '@playwright/test';
import fc from 'fast-check';
import { test as base, expect, LISTED } from '../../support/cdp/proxy-fixtures.ts';
import { propertyRuns, slowIf } from '../../support/property-runs.ts';

/** Service workers of proxied pages: what they request, in any order, is reported as in a local browser. */

const SCOPES = ['a', 'b'] as const;
type Scope = (typeof SCOPES)[number];

/** A service worker that requests something in each phase of its life, and answers `own` with another request. */
const WORKER = `
  importScripts('imported.js');
  addEventListener('install', (event) => event.waitUntil(fetch('installing').then(() => skipWaiting())));
  addEventListener('activate', (event) => event.waitUntil(fetch('activating').then(() => clients.claim())));
  addEventListener('fetch', (event) => {
    if (event.request.url.endsWith('/own')) event.respondWith(fetch('through'));
    if (event.request.url.endsWith('/made')) event.respondWith(new Response('made'));
  });
`;

/** Registers the worker of a scope, until the page is under its control. */
const REGISTER = `async (scope) => {
  const changed = new Promise((resolve) => navigator.serviceWorker.addEventListener('controllerchange', resolve));
  const { active } = await navigator.serviceWorker.register('/' + scope + '/worker.js');
  if (!active) await changed;
}`;

const test = base.extend<{ port: number; version: { current: number } }>({
  version: async ({}, use) => await use({ current: 1 }),
  port: async ({ version }, use) => {
    const server = createServer(({ url }, response) => {
      const isScript = url?.endsWith('.js');
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
      if (url?.endsWith('/worker.js')) return response.end(`self.version = ${version.current};${WORKER}`);
      return response.end(isScript ? 'self.isImported = true;' : `response of ${url}`);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    await use((server.address() as AddressInfo).port);
    server.closeAllConnections();
    server.close();
  },
});

const STEPS = ['visit', 'register', 'worker fetch', 'unregister', 'fetch', 'new page', 'reload'] as const;

interface Step {
  op: (typeof STEPS)[number];
  /** Of those that concern one scope. */
  scope: Scope;
  /** Of a page's `fetch`. */
  path: 'made' | 'other' | 'own';
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record<Step>({
    // Most histories need a worker and what it serves.
    op: fc.constantFrom(...STEPS, 'register', 'fetch', 'fetch'),
    scope: fc.constantFrom(...SCOPES),
    path: fc.constantFrom('made', 'other', 'own'),
  }),
  { minLength: 2, maxLength: 8 },
);

/** Plays a history in a new context, and returns what its steps and the client see. */
async function play(browser: Browser, origin: string, history: Step[]): Promise<object> {
  const context = await browser.newContext();
  const seen = requestsOf(context, origin);
  let page = await context.newPage();
  await page.goto(`${origin}/a/page`);
  /** The scopes with a worker. An unregistered one lives on while a page of it is open, so it leaves the history. */
  const registered = new Map<Scope, Worker>();
  const results: unknown[] = [];
  for (const step of history) {
    if (step.op === 'new page') {
      const next = await context.newPage();
      await next.goto(page.url());
      await page.close();
      page = next;
    } else if (step.op === 'reload') {
      results.push((await page.reload())?.fromServiceWorker());
    } else if (step.op === 'fetch') {
      results.push(await page.evaluate(async (path) => (await fetch(path)).text(), step.path));
    } else if (step.op === 'visit') {
      results.push((await page.goto(`${origin}/${step.scope}/page`))?.status());
    } else if (step.op === 'register') {
      if (!registered.has(step.scope)) registered.set(step.scope, await register(page, origin, step.scope));
    } else if (step.op === 'worker fetch') {
      const worker = registered.get(step.scope);
      results.push(await worker?.evaluate(async () => (await fetch('by-test')).text()));
    } else if (registered.delete(step.scope)) {
      await page.goto(`${origin}/elsewhere`);
      const registration = `navigator.serviceWorker.getRegistration('/${step.scope}/')`;
      results.push(await page.evaluate(`${registration}.then((found) => found?.unregister())`));
    }
  }
  const requests = await seen.ended();
  await context.close();
  return { results, requests };
}

async function register(page: Page, origin: string, name: Scope): Promise<Worker> {
  await page.goto(`${origin}/${name}/page`);
  const started = page.context().waitForEvent('serviceworker');
  await page.evaluate(`(${REGISTER})(${JSON.stringify(name)})`);
  return await started;
}

/** The requests that a context reports, with how each ended. */
function requestsOf(context: BrowserContext, origin: string): { ended(): Promise<string[]> } {
  const ended: string[] = [];
  let open = 0;
  const note = (how: string) => (request: Request) => {
    open -= 1;
    const from = request.serviceWorker() ? 'worker' : 'page';
    ended.push(`${from}: ${request.method()} ${request.url().replace(origin, '')} ${how}`);
  };
  context.on('request', () => {
    open += 1;
  });
  context.on('requestfinished', note('finished'));
  context.on('requestfailed', note('failed'));
  return {
    async ended() {
      await expect.poll(() => open, { message: 'requests that have not ended' }).toBe(0);
      return ended.sort();
    },
  };
}

const RUNS = propertyRuns(100, 12);

// Each time, request-table.spec.ts and early-ends.spec.ts have a service worker's requests.
test('reports the requests of service workers in any order', slowIf(true), async ({ far, port }) => {
  test.setTimeout(60_000 + 5_000 * RUNS.numRuns);
  const browser = far.browser() as Browser;
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      const direct = await play(browser, `http://localhost:${port}`, history);
      assert.deepEqual(await play(browser, `http://${LISTED}:${port}`, history), direct);
    }),
    { ...RUNS, interruptAfterTimeLimit: 30_000 + 5_000 * RUNS.numRuns },
  );
});

test('says why the browser cannot update a service worker, and a new context gets the new script', async ({
  far,
  port,
  version,
}) => {
  const start = async (context: BrowserContext, origin: string) => {
    const page = await context.newPage();
    const worker = await register(page, origin, 'a');
    return { page, version: await worker.evaluate('version') };
  };
  const update = `navigator.serviceWorker.ready.then((registration) => registration.update()).then(() => 'updated')`;
  const { page } = await start(far, `http://${LISTED}:${port}`);
  version.current = 2;
  await expect(page.evaluate(update)).rejects.toThrow(
    'unknown error occurred when fetching the script. poolwright: the browser requests the new script itself, past exposeNetwork; a new context gets it.',
  );
  const fresh = await (far.browser() as Browser).newContext();
  expect((await start(fresh, `http://${LISTED}:${port}`)).version).toBe(2);
  // A server that the browser reaches itself does not concern us.
  const direct = await start(fresh, `http://localhost:${port}`);
  expect(await direct.page.evaluate(update)).toBe('updated');
});

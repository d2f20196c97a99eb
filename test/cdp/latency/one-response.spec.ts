import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, type BrowserContext, chromium, type Page } from '@playwright/test';
import fc from 'fast-check';
import { Meter, Savings } from '../../../src/cdp/figures.ts';
import type { CdpMessage } from '../../../src/cdp/message.ts';
import type { InterceptorOptions } from '../../../src/cdp/pipeline.ts';
import type { CdpTransport } from '../../../src/cdp/transport/transport.ts';
import { within } from '../../../src/common/pause.ts';
import { ClientAccount } from '../../models/cdp/client-account.ts';
import { expect, test } from '../../support/cdp/fixtures.ts';
import { fullLength, propertyRuns, slowIf } from '../../support/property-runs.ts';

/** Several concurrent actions on pages that navigate, crash and close: each command of Playwright gets one response. */

const RUNS = propertyRuns(20, 2);
const ROUND_TRIP_MS = 6;
/** Time limit for the last response after everything has finished, in ms. */
const SETTLED_MS = 5_000;
/** A command of ours that a crashed page never answers ends after 60 s. */
const ENDED_MS = 75_000;
/** Time limit for one action, in ms. */
const ACTION = { timeout: 2_000 };

/** Boxes with missing pictures: the page loads slowly, and is tall. */
const BOXES = `<!doctype html><style>.box { float: left; width: 50px; height: 50px }</style><button>go</button><input><script>
addEventListener('DOMContentLoaded', () => { for (let number = 0; number < 200; number += 1) {
  const box = Object.assign(document.createElement('div'), { className: 'box' });
  for (const digit of String(number)) box.append(Object.assign(new Image(), { src: 'digits/' + digit + '.png' }));
  document.body.append(box);
} });</script>`;

interface Site {
  url: string;
  /** The same address for which Chromium uses another process. */
  elsewhere: string;
}

const it = test.extend<{ boxes: Site; connectAccounted: (options: Partial<InterceptorOptions>) => Promise<Connected> }>(
  {
    boxes: async ({}, use) => {
      const server = createServer((request, response) => {
        response.setHeader('content-type', 'text/html');
        if (request.url?.startsWith('/digits')) response.writeHead(404).end();
        else if (request.url === '/frames') response.end(`<iframe src="http://localhost:${port}/"></iframe>${BOXES}`);
        else response.end(BOXES);
      });
      server.listen(0);
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      await use({ url: `http://127.0.0.1:${port}`, elsewhere: `http://localhost:${port}` });
      server.closeAllConnections();
      server.close();
    },
    connectAccounted: async ({ start, open }, use) => {
      const { api } = await start({ allowLoopback: true, rtt: ROUND_TRIP_MS });
      await use(async (options) => {
        const transport = await open((await api.create()).body.cdpUrl, options);
        const account = new ClientAccount();
        return { account, browser: await chromium.connectOverCDP(accounted(transport, account)) };
      });
    },
  },
);

interface Connected {
  account: ClientAccount;
  browser: Browser;
}

function accounted(transport: CdpTransport, account: ClientAccount) {
  const between = {
    onmessage: undefined as ((message: object) => void) | undefined,
    onclose: undefined as ((reason?: string) => void) | undefined,
    send: (message: CdpMessage) => {
      account.asks(message);
      transport.send(message);
    },
    close: () => transport.close(),
  };
  transport.onmessage = (message) => {
    account.gets(message as CdpMessage);
    between.onmessage?.(message);
  };
  transport.onclose = (reason) => between.onclose?.(reason);
  return between;
}

const ahead = (): InterceptorOptions => ({ ahead: true, sharesBrowser: true, savings: new Savings(1) });

it('takes every screenshot while the page keeps reloading', async ({ connectAccounted, boxes }) => {
  const { browser, account } = await connectAccounted(ahead());
  const five = async (act: () => Promise<unknown>) => {
    for (let count = 0; count < 5; count += 1) await act();
  };
  for (let count = 0; count < fullLength(8, 4); count += 1) {
    const context = await browser.newContext({ viewport: { width: 500, height: 500 } });
    const page = await context.newPage();
    await page.goto(boxes.url);
    await Promise.all([five(() => page.reload()), five(() => page.screenshot({ fullPage: true, timeout: 10_000 }))]);
    await context.close();
  }
  expect(account.faults).toEqual([]);
});

type Act = (page: Page, site: Site, context: BrowserContext) => Promise<unknown>;
const ACTS: Record<string, Act> = {
  reload: (page) => page.reload(ACTION),
  goto: (page, { url }) => page.goto(`${url}/frames`, ACTION),
  elsewhere: (page, { elsewhere }) => page.goto(elsewhere, ACTION),
  back: (page) => page.goBack(ACTION),
  screenshot: (page) => page.screenshot({ fullPage: true, ...ACTION }),
  click: (page) => page.locator('button').click(ACTION),
  fill: (page) => page.locator('input').fill('text', ACTION),
  upload: (page) => page.locator('input').setInputFiles(import.meta.filename, ACTION),
  evaluate: (page) => page.evaluate('document.title'),
  'evaluate for ever': (page) => page.evaluate('new Promise((resolve) => setTimeout(resolve, 1_000))'),
  handle: (page) => page.evaluateHandle('document.body'),
  'in the frame': (page) => page.frameLocator('iframe').locator('button').click(ACTION),
  'frame goes': (page) => page.evaluate('document.querySelector("iframe")?.remove()'),
  route: (page) => page.route('**/digits/*', (route) => route.abort()),
  session: async (page, _, context) => {
    const session = await context.newCDPSession(page);
    await Promise.all([session.send('Runtime.evaluate', { expression: '1' }), session.detach()]);
  },
  'page.close': (page) => page.close(),
  popup: (page, { url }) => page.evaluate(`void open('${url}')`),
  crash: async (page, _, context) => {
    const session = await context.newCDPSession(page);
    void session.send('Page.crash').catch(() => undefined);
  },
  'chrome://crash': (page) => page.goto('chrome://crash', ACTION),
  'context.close': (_page, _site, context) => context.close(),
};
const ENDS = ['page.close', 'crash', 'chrome://crash', 'context.close'];
const usual = fc.constantFrom(...Object.keys(ACTS).filter((name) => !ENDS.includes(name)));
const story = fc.record({
  flights: fc.array(fc.array(usual, { minLength: 2, maxLength: 6 }), { minLength: 1, maxLength: 3 }),
  end: fc.constantFrom(...ENDS),
  /** Runs while it ends. */
  within: fc.array(usual, { minLength: 1, maxLength: 5 }),
});
type Story = typeof story extends fc.Arbitrary<infer One> ? One : never;

const LISTS: Record<string, () => InterceptorOptions> = {
  'ahead, auto': () => ({ ...ahead(), auto: { onVisit: () => undefined }, meter: new Meter() }),
  'persistent context': () => ({ ...ahead(), persistent: { clear: true }, meter: new Meter() }),
};

for (const [name, options] of Object.entries(LISTS)) {
  it(
    `gives each command one response during random concurrent actions: ${name}`,
    slowIf(name === 'persistent context'),
    async ({ connectAccounted, boxes }) => {
      it.setTimeout(120_000 + RUNS.numRuns * ENDED_MS);
      const { browser, account } = await connectAccounted(options());
      const bounded = async <T>(what: string, work: Promise<T>): Promise<T> => {
        const ended = await within(
          work.then((value) => ({ value })),
          ENDED_MS,
          null,
        );
        expect(ended, `${what} ends; without a response: ${JSON.stringify(account.unanswered)}`).not.toBeNull();
        return (ended as { value: T }).value;
      };
      for (const { flights, end, within } of fc.sample<Story>(story, RUNS)) {
        const context = await bounded('newContext', browser.newContext());
        const page = await bounded('newPage', context.newPage());
        await page.goto(`${boxes.url}/frames`, ACTION).catch(() => undefined);
        for (const flight of [...flights, [...within, end]]) {
          // The result of an action does not matter here.
          await Promise.all(
            flight.map((act) =>
              bounded(act, ACTS[act]?.(page, boxes, context).catch(() => undefined) ?? Promise.resolve()),
            ),
          );
        }
        const what = JSON.stringify({ flights, end, within });
        await expect.poll(() => account.unanswered, { message: what, timeout: SETTLED_MS }).toEqual([]);
        expect(account.faults, what).toEqual([]);
        await bounded('context.close', context.close());
      }
      await browser.close();
    },
  );
}

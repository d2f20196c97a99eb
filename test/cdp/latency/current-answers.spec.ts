import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { chromium, type Browser as PlaywrightBrowser, type ElementHandle as PlaywrightHandle } from '@playwright/test';
import fc from 'fast-check';
import puppeteer, { type Browser, type ElementHandle } from 'puppeteer-core';
import { Savings } from '../../../src/cdp/figures.ts';
import { asPuppeteerTransport } from '../../../src/clients/puppeteer/transport.ts';
import { expect, test } from '../../support/cdp/fixtures.ts';
import { fullLength, propertyRuns, slowIf } from '../../support/property-runs.ts';

/**
 * What answers a call was evaluated after the call was made. A page changes at random moments, and a client waits at
 * random moments: each result must have been true at some time between the call and its end.
 */

const ROUND_TRIP_MS = 20;
/** Its model has thousands of histories: test/unit/cdp/latency/current-answers.spec.ts. */
const RUNS = propertyRuns(60);
const ATTACK_ROUNDS = fullLength(12, 4);

/**
 * The page in version `n`: `#ok` is at `x = 15 * n`. If `n` is odd, `#far` is in the viewport, `#shown` is visible and
 * `.odd` exists. The viewport of a new page is 800 pixels wide.
 */
const PAGE = `<!doctype html><style>b, i, u { position: absolute; width: 10px; height: 10px } i { left: 790px }</style>
  <b id="ok" style="top: 40px">o</b><i id="far">f</i><u id="shown">s</u><p id="parity"></p><script>
  var hits = [];
  addEventListener('mousedown', ({ clientX }) => hits.push(Math.floor(clientX / 15)), true);
  function change(n) {
    ok.style.left = 15 * n + 'px';
    ok.textContent = ok.title = n;
    far.style.top = n % 2 ? '100px' : '3000px';
    shown.style.display = n % 2 ? 'block' : 'none';
    parity.className = n % 2 ? 'odd' : 'even';
  }
  change(0);
  new EventSource('/versions').onmessage = async ({ data }) => {
    change(Number(data));
    await fetch('/done', { method: 'POST', body: data });
  };
</script>`;

/** A page whose versions the test decides, without the distance to the browser. */
class ChangingPage {
  /** The last version that the page has certainly reached, and the last one that it may have reached. */
  reached = 0;
  requested = 0;
  #events: ServerResponse | undefined;
  #onReached = () => {};
  #onOpen = () => {};
  readonly isOpen = new Promise<void>((resolve) => {
    this.#onOpen = resolve;
  });
  readonly #server = createServer(async (request, response) => {
    if (request.url === '/versions') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(':\n\n');
      this.#events = response;
      this.#onOpen();
    } else if (request.url === '/done') {
      for await (const chunk of request) this.reached = Math.max(this.reached, Number(String(chunk)));
      response.end();
      this.#onReached();
    } else {
      response.setHeader('content-type', 'text/html').end(PAGE);
    }
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** Changes the page to its next version, and waits until it has changed. */
  async change(): Promise<void> {
    const version = ++this.requested;
    this.#events?.write(`data: ${version}\n\n`);
    while (this.reached < version) {
      await new Promise<void>((resolve) => {
        this.#onReached = resolve;
      });
    }
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

/** A call, and the versions of the page in which it would have this result. */
type Call = () => Promise<(version: number) => boolean>;

/** A client's page as the property uses it. */
interface Client {
  goto(url: string): Promise<unknown>;
  calls: Record<string, Call>;
  close(): Promise<unknown>;
}

const isAt = (x: number | undefined) => (version: number) => Math.floor((x ?? Number.NaN) / 15) === version;
const isOdd = (is: boolean) => (version: number) => (version % 2 === 1) === is;
const isText = (text: string | null | undefined) => (version: number) => text === String(version);
const always = () => true;

async function puppeteerPage(browser: Browser): Promise<Client> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  await page.setViewport({ width: 800, height: 600 });
  let ok: ElementHandle | null = null;
  let far: ElementHandle | null = null;
  const okHandle = async () => {
    ok ??= await page.waitForSelector('#ok');
    return ok as ElementHandle;
  };
  const farHandle = async () => {
    far ??= await page.$('#far');
    return far as ElementHandle;
  };
  const hit = async () => isAt(15 * Number(await page.evaluate('hits.at(-1)')));
  return {
    goto: (url) => page.goto(url),
    close: () => context.close(),
    calls: {
      'waitForSelector #ok': async () => {
        ok = await page.waitForSelector('#ok');
        return always;
      },
      '$ #ok': async () => {
        ok = await page.$('#ok');
        return always;
      },
      '$ #far': async () => {
        far = await page.$('#far');
        return always;
      },
      '$ .odd': async () => isOdd((await page.$('.odd')) !== null),
      click: async () => {
        await (await okHandle()).click();
        return await hit();
      },
      'page.click': async () => {
        await page.click('#ok');
        return await hit();
      },
      hover: async () => {
        await (await okHandle()).hover();
        return always;
      },
      clickablePoint: async () => isAt((await (await okHandle()).clickablePoint()).x),
      boundingBox: async () => isAt((await (await okHandle()).boundingBox())?.x),
      isIntersecting: async () => isOdd(await (await farHandle()).isIntersectingViewport()),
      // It fails on its argument, after the handle has moved to Puppeteer's own world.
      'select(5) #far': async () => {
        await assert.rejects((await farHandle()).select(5 as unknown as string));
        return always;
      },
      'isIntersecting wholly': async () => isOdd(await (await farHandle()).isIntersectingViewport({ threshold: 1 })),
      $eval: async () => isText(await page.$eval('#ok', (element) => element.textContent)),
      evaluate: async () => isText(await (await okHandle()).evaluate((element) => element.textContent)),
      isVisible: async () => isOdd((await (await page.$('#shown'))?.isVisible()) ?? false),
    },
  };
}

async function playwrightPage(browser: PlaywrightBrowser): Promise<Client> {
  const context = await browser.newContext({ viewport: { width: 800, height: 600 } });
  const page = await context.newPage();
  const ok = page.locator('#ok');
  let handle: PlaywrightHandle | null = null;
  const okHandle = async () => {
    handle ??= await page.$('#ok');
    return handle as PlaywrightHandle;
  };
  const hit = async () => isAt(15 * Number(await page.evaluate('hits.at(-1)')));
  return {
    goto: (url) => page.goto(url),
    close: () => context.close(),
    calls: {
      $: async () => {
        handle = await page.$('#ok');
        return always;
      },
      'waitForSelector #ok': async () => {
        handle = await page.waitForSelector('#ok');
        return always;
      },
      '$ .odd': async () => isOdd((await page.$('.odd')) !== null),
      click: async () => {
        await ok.click();
        return await hit();
      },
      'handle.click': async () => {
        await (await okHandle()).click();
        return await hit();
      },
      hover: async () => {
        await ok.hover();
        return always;
      },
      'handle.hover': async () => {
        await (await okHandle()).hover();
        return always;
      },
      textContent: async () => isText(await ok.textContent()),
      getAttribute: async () => isText(await ok.getAttribute('title')),
      boundingBox: async () => isAt((await ok.boundingBox())?.x),
      'handle.boundingBox': async () => isAt((await (await okHandle()).boundingBox())?.x),
      isVisible: async () => isOdd(await page.locator('#shown').isVisible()),
      'handle.isVisible': async () => isOdd((await (await page.$('#shown'))?.isVisible()) ?? false),
      evaluate: async () => isText(await ok.evaluate((element) => element.textContent)),
      count: async () => isOdd((await page.locator('.odd').count()) === 1),
    },
  };
}

/** How long the test waits; `undefined`: not at all, 0: a turn of its event loop. */
const pause = fc.constantFrom(undefined, undefined, 0, 5, 20, 40, 120);

/** A call, changes while it is going on and after it, and then a pause. */
const stepOf = (names: string[]) =>
  fc.record({
    call: fc.constantFrom(...names),
    /** Another one at the same time. */
    other: fc.option(fc.constantFrom(...names), { freq: 1 }),
    meanwhile: fc.option(fc.integer({ min: 0, max: 60 }), { freq: 1 }),
    before: pause,
    changes: fc.boolean(),
    after: pause,
  });

/** A call that finds an element and some others, which follow it again and again: what follows what is learned. */
const storyOf = (names: string[]) => {
  const isFinder = (name: string) => /^(?:\$|waitFor)[^.]*$/.test(name) && name !== '$eval';
  const finder = fc.constantFrom(...names.filter(isFinder));
  const others = fc.shuffledSubarray(
    names.filter((name) => !isFinder(name)),
    { minLength: 1, maxLength: 2 },
  );
  return fc
    .tuple(finder, others)
    .chain(([first, some]) => fc.array(stepOf([first, ...some]), { minLength: 8, maxLength: 16 }));
};

async function rest(ms: number | undefined): Promise<void> {
  if (ms !== undefined) await wait(ms);
}

const clients = {
  Puppeteer: async (transport: Parameters<typeof asPuppeteerTransport>[0]) => {
    const browser = await puppeteer.connect({ transport: asPuppeteerTransport(transport), defaultViewport: null });
    return { open: () => puppeteerPage(browser), close: () => browser.disconnect() };
  },
  Playwright: async (transport: Parameters<typeof asPuppeteerTransport>[0]) => {
    const browser = await chromium.connectOverCDP(transport);
    return { open: () => playwrightPage(browser), close: () => browser.close() };
  },
};

for (const name of ['Puppeteer', 'Playwright'] as const) {
  test(`answers no call of ${name} from before it was made`, slowIf(true), async ({ start, open }) => {
    test.setTimeout(120_000 + RUNS.numRuns * 20_000);
    const { api } = await start({ allowLoopback: true, rtt: ROUND_TRIP_MS });
    const savings = new Savings(1);
    const client = name === 'Puppeteer' ? 'puppeteer' : 'playwright';
    const transport = await open((await api.create()).body.cdpUrl, {
      client,
      ahead: true,
      sharesBrowser: true,
      savings,
    });
    const { open: openPage, close } = await clients[name](transport);
    const first = await openPage();
    const names = Object.keys(first.calls);
    await first.close();
    await fc.assert(
      fc.asyncProperty(storyOf(names), async (steps) => {
        const changing = new ChangingPage();
        const page = await openPage();
        try {
          await page.goto(await changing.start());
          await changing.isOpen;
          const check = async (called: string) => {
            const from = changing.reached;
            const fits = await (page.calls[called] as Call)();
            const versions = Array.from({ length: changing.requested - from + 1 }, (_, index) => from + index);
            assert.ok(versions.some(fits), `${called}: not its result in ${versions.join(', ')}`);
          };
          for (const { call, other, meanwhile, before, changes, after } of steps) {
            const calls = [check(call), ...(other ? [check(other)] : [])];
            if (meanwhile !== null) calls.push(wait(meanwhile).then(() => changing.change()));
            await Promise.all(calls);
            await rest(before);
            if (changes) await changing.change();
            await rest(after);
          }
        } finally {
          await page.close();
          changing.close();
        }
      }),
      { ...RUNS, endOnFailure: true },
    );
    await close();
    expect(savings.savedMs).toBeGreaterThan(ROUND_TRIP_MS);
  });
}

/** A call that finds an element, a later one that reads where it is, and others between them. */
const ATTACKS = [
  ['$ #ok', 'click'],
  ['waitForSelector #ok', 'click'],
  ['$ #ok', 'clickablePoint'],
  ['$ #far', 'isIntersecting'],
  ['$ #far', 'isIntersecting', 'select(5) #far'],
] as const;

test('clicks on the element where it is, not where it was when it was found', async ({ start, open }) => {
  test.setTimeout(120_000);
  const { api } = await start({ allowLoopback: true, rtt: ROUND_TRIP_MS });
  const { cdpUrl } = (await api.create()).body;
  const transport = await open(cdpUrl, {
    client: 'puppeteer',
    ahead: true,
    sharesBrowser: true,
    savings: new Savings(1),
  });
  const { open: openPage, close } = await clients.Puppeteer(transport);
  for (let round = 0; round < ATTACK_ROUNDS; round += 1) {
    const changing = new ChangingPage();
    const { calls, goto, close: closePage } = await openPage();
    await goto(await changing.start());
    await changing.isOpen;
    for (const [find, look, ...others] of ATTACKS) {
      // It teaches that the second call follows the first.
      await calls[find]?.();
      await calls[look]?.();
      await calls[find]?.();
      for (const other of others) await calls[other]?.();
      await changing.change();
      const version = changing.reached;
      const fits = await calls[look]?.();
      assert.ok(fits?.(version), `${look} after ${find} in round ${round}`);
    }
    await closePage();
    changing.close();
  }
  await close();
});

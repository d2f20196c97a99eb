import { randomUUID } from 'node:crypto';
import type { Browser, BrowserContext, Page } from '@playwright/test';
import type { Way } from '../../support/cdp/two-ways.ts';
import { slowIf } from '../../support/property-runs.ts';
import { expect, test } from './warm-ways.ts';

/** When something fails, or differs from the last time, a test sees the same as without `ahead`. */

/** Time limit for an action that waits in vain. */
const SOON = { timeout: 1_000 };

/** An ordinary test. */
async function ordinary(browser: Browser, url: string): Promise<void> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url);
  await page.setContent('<button>one</button><input><a href="#there">two</a><input type="checkbox">');
  await page.locator('button').click();
  await page.locator('input').first().fill('text');
  await page.locator('a').click();
  await page.locator('[type=checkbox]').check();
  await context.close();
}

/** Browsers on which the commands to send early have been learned. */
const warm = new WeakSet<Browser>();

async function tryOn({ name, browser, savings }: Way, url: string, run: Case) {
  // Two: the first one teaches, and the second one uses what was learned.
  for (let number = 0; number < 2 && name === 'ahead' && !warm.has(browser); number += 1) await ordinary(browser, url);
  warm.add(browser);
  const before = savings.savedMs;
  const context = await browser.newContext();
  const found = await run(await context.newPage(), url, context, browser);
  await context.close();
  // Later tests work as usual.
  if (name === 'ahead') await ordinary(browser, url);
  return { found, contexts: browser.contexts().length, saved: savings.savedMs > before };
}

/** The result of something, without details that differ each time. */
async function outcome(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work;
  } catch (error) {
    const [first = ''] = (error as Error).message.split('\n');
    return `failed: ${first}`;
  }
}

type Case = (page: Page, url: string, context: BrowserContext, browser: Browser) => Promise<unknown>;

const CASES: Record<string, Case> = {
  'a missing element': async (page) => [
    await outcome(page.locator('#none').click(SOON)),
    await outcome(page.locator('#none').fill('text', SOON)),
  ],
  'an element that appears later': async (page) => {
    await page.setContent(
      `<script>setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<button onclick="this.textContent=1">go</button>'), 300)</script>`,
    );
    return [await outcome(page.locator('button').click()), await page.locator('button').textContent()];
  },
  'several elements': async (page) => {
    await page.setContent('<button>one</button><button>two</button>');
    return [await outcome(page.locator('button').click()), await outcome(page.locator('button').first().click())];
  },
  'an element that is covered': async (page) => {
    await page.setContent('<button>one</button><div style="position:fixed;inset:0">cover</div>');
    return await outcome(page.locator('button').click(SOON));
  },
  'an element that is uncovered': async (page) => {
    await page.setContent(
      '<button onclick="this.textContent=2">one</button><div style="position:fixed;inset:0">cover</div><script>setTimeout(() => document.querySelector("div").remove(), 300)</script>',
    );
    return [await outcome(page.locator('button').click()), await page.locator('button').textContent()];
  },
  'an element that is disabled, and enabled later': async (page) => {
    await page.setContent('<button disabled onclick="this.textContent=2">one</button><input disabled>');
    const failed = [
      await outcome(page.locator('button').click(SOON)),
      await outcome(page.locator('input').fill('a', SOON)),
    ];
    await page.evaluate(
      'setTimeout(() => document.querySelectorAll("[disabled]").forEach((e) => { e.disabled = false; }), 200)',
    );
    return [
      failed,
      await outcome(page.locator('button').click()),
      await outcome(page.locator('input').fill('b')),
      await page.locator('button').textContent(),
      await page.locator('input').inputValue(),
    ];
  },
  'an element that moves, then stays': async (page) => {
    await page.setContent(
      `<style>@keyframes go { to { margin-left: 300px } } button { animation: go 0.4s linear forwards }</style><button onclick="this.textContent=2">one</button>`,
    );
    return [await outcome(page.locator('button').click()), await page.locator('button').textContent()];
  },
  'an element that is replaced all the time': async (page) => {
    await page.setContent(
      `<main><button>0</button></main><script>let n = 0; const timer = setInterval(() => { document.querySelector('main').innerHTML = '<button onclick="document.title = 1">' + ++n + '</button>'; if (n > 60) clearInterval(timer); }, 5)</script>`,
    );
    return [await outcome(page.locator('button').click()), await page.title()];
  },
  'an element outside the viewport': async (page) => {
    await page.setContent('<div style="height:5000px"></div><button onclick="this.textContent=2">one</button>');
    return [
      await outcome(page.locator('button').click()),
      await page.locator('button').textContent(),
      await page.evaluate('scrollY > 1000'),
    ];
  },
  'a frame and a shadow root': async (page) => {
    await page.setContent('<iframe srcdoc="<button onclick=this.textContent=2>in frame</button>"></iframe><div></div>');
    await page.evaluate(
      `document.querySelector('div').attachShadow({ mode: 'open' }).innerHTML = '<input><button onclick="this.textContent = 3">in shadow</button>'`,
    );
    await page.frameLocator('iframe').locator('button').click();
    await page.locator('div input').fill('text');
    await page.locator('div button').click();
    return [
      await page.frameLocator('iframe').locator('button').textContent(),
      await page.locator('div button').textContent(),
      await page.locator('div input').inputValue(),
    ];
  },
  'a link, and what follows it': async (page, url) => {
    await page.setContent(`<a href="${url}/?second">there</a>`);
    await page.locator('a').click();
    return [page.url(), await page.locator('button').textContent(), await outcome(page.locator('button').click())];
  },
  'a navigation in the middle of an action': async (page, url) => {
    await page.setContent(
      `<button disabled>never</button><script>setTimeout(() => { location.href = '${url}/?away' }, 200)</script>`,
    );
    return [await outcome(page.locator('button').click()), page.url()];
  },
  'navigations one after another': async (page, url) => {
    const urls: string[] = [];
    for (const number of [1, 2, 3]) {
      await page.goto(`${url}/?${number}`, { waitUntil: 'commit' });
      urls.push(String(await page.locator('button').textContent()));
      await page.locator('button').click();
      await page.reload();
    }
    await page.goBack();
    return [urls, page.url(), await page.locator('button').textContent()];
  },
  'documents in other processes': async (page, url) => {
    const found: unknown[] = [];
    const other = url.replace('127.0.0.1', 'localhost');
    for (const each of [url, other, `${url}/?2`, `${other}/?2`]) {
      await page.goto(each);
      await page.locator('button').click();
      found.push(
        await page.locator('#out').textContent(),
        await page.locator('button').evaluate('self.origin === origin'),
      );
    }
    await page.goBack();
    return [found, await page.locator('button').textContent(), page.url().includes('127.0.0.1')];
  },
  'a document whose root element appears late': async (page, url) => {
    const found: unknown[] = [];
    for (const number of [1, 2]) {
      const which = randomUUID();
      await page.goto(`${url}/late-root?${which}`, { waitUntil: 'commit' });
      // Before the root element exists, and without a locator.
      const early = async () => {
        const state = await page.evaluate('document.readyState');
        await fetch(`${url}/root?${which}`);
        return state;
      };
      // The locators may finish in any order: both wait.
      const [state, label] = await Promise.all([
        early(),
        page.locator('button').textContent(),
        page.locator('button').click(),
      ]);
      found.push(number, state, label, await page.locator('#out').textContent());
    }
    return found;
  },
  'frames that navigate': async (page, url) => {
    await page.goto(url);
    const found: unknown[] = [];
    for (const number of [1, 2]) {
      await page.evaluate(
        `document.body.insertAdjacentHTML('beforeend', '<iframe name="f${number}" src="${url}/?${number}"></iframe>')`,
      );
      const frame = page.frameLocator(`[name=f${number}]`);
      await frame.locator('button').click();
      found.push(await frame.locator('#out').textContent());
    }
    await page.locator('button').click();
    return [found, await page.locator('#out').textContent(), page.frames().length];
  },
  'handles that are taken from one world to another': async (page, url) => {
    const found: unknown[] = [];
    for (const number of [1, 2]) {
      await page.goto(`${url}/?${number}`);
      const handle = await page.evaluateHandle('document.querySelector("button")');
      await handle.asElement()?.click();
      found.push(await page.locator('#out').textContent(), await handle.asElement()?.isVisible());
    }
    return found;
  },
  'the coverage of scripts': async (page, url) => {
    await page.coverage.startJSCoverage({ reportAnonymousScripts: true });
    await page.goto(url);
    await page.locator('button').click();
    const scripts = await page.coverage.stopJSCoverage();
    return scripts.map(({ source = '' }) => source.length).sort();
  },
  'a dialog in the middle of an action': async (page) => {
    const messages: string[] = [];
    page.on('dialog', (dialog) => {
      messages.push(dialog.message());
      void dialog.accept('yes');
    });
    await page.setContent(`<button onclick="this.textContent = prompt('name?')">ask</button>`);
    return [await outcome(page.locator('button').click()), await page.locator('button').textContent(), messages];
  },
  'a popup': async (page, url, context) => {
    await page.setContent(`<button onclick="window.open('${url}/?popup')">open</button>`);
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.locator('button').click()]);
    await popup.waitForLoadState();
    const text = await popup.locator('button').textContent();
    const pages = context.pages().length;
    await popup.close();
    return [text, pages, context.pages().length];
  },
  'a page that is closed in the middle of an action': async (page, _url, context) => {
    await page.setContent('<button disabled>never</button>');
    const click = outcome(page.locator('button').click());
    await page.close();
    return [await click, context.pages().length];
  },
  'two pages at once': async (page, url, context) => {
    const other = await context.newPage();
    await Promise.all([page.goto(`${url}/?one`), other.goto(`${url}/?two`)]);
    await Promise.all([page.locator('button').click(), other.locator('button').click()]);
    return [
      await page.locator('#out').textContent(),
      await other.locator('#out').textContent(),
      page.url(),
      other.url(),
    ];
  },
  'contexts with other options': async (_page, url, _context, browser) => {
    const found: unknown[] = [];
    for (const options of [
      { hasTouch: true, isMobile: true, viewport: { width: 400, height: 700 } },
      { locale: 'de-DE', timezoneId: 'Europe/Berlin', colorScheme: 'dark' as const },
      { javaScriptEnabled: false },
      { userAgent: 'mine', extraHTTPHeaders: { 'x-mine': '1' }, permissions: ['geolocation'] },
      { storageState: { cookies: [{ name: 'a', value: 'b', url }], origins: [] } as never },
      { proxy: { server: 'http://127.0.0.1:1' } },
      {},
    ]) {
      const context = await browser.newContext(options);
      const page = await context.newPage();
      const arrived = await outcome(page.goto(url).then((response) => response?.status()));
      // Behind a missing proxy, the error page appears at any time.
      const told =
        arrived === 200 &&
        (await outcome(
          page.evaluate(`[innerWidth, navigator.maxTouchPoints, navigator.language, navigator.userAgent.length > 4,
          Intl.DateTimeFormat().resolvedOptions().timeZone, matchMedia('(prefers-color-scheme: dark)').matches, document.cookie].join()`),
        ));
      const click = page.locator('button').click(arrived === 200 ? {} : SOON);
      found.push([String(arrived).replace(/:\d+\/?/, ''), told, await outcome(click)]);
      await context.close();
    }
    return found;
  },
  'two contexts at once, and one without a page': async (page, url, _context, browser) => {
    const [one, two] = [await browser.newContext(), await browser.newContext()];
    const second = await two.newPage();
    await second.goto(url);
    await page.goto(url);
    await second.evaluate('document.cookie = "only=here"');
    const found = [await one.cookies(), (await two.cookies()).length, await page.evaluate('document.cookie')];
    await one.close();
    await two.close();
    return [...found, browser.contexts().length];
  },
  'a session that the test opens': async (page, url, context, browser) => {
    await page.goto(url);
    const session = await context.newCDPSession(page);
    const { result } = await session.send('Runtime.evaluate', { expression: '6 * 7' });
    const whole = await browser.newBrowserCDPSession();
    const { targetInfos } = await whole.send('Target.getTargets');
    const ended: string[] = [];
    session.on('close', () => ended.push('session'));
    page.on('close', () => ended.push('page'));
    await context.close();
    return [
      result.value,
      targetInfos.filter(({ type, browserContextId }) => type === 'page' && browserContextId).length,
      ended,
    ];
  },
  'scripts and bindings installed before the page': async (page, url, context) => {
    await context.addInitScript('window.mine = 1');
    await context.exposeFunction('twice', (value: number) => 2 * value);
    const other = await context.newPage();
    await other.goto(url);
    const blank = await context.newPage();
    return [
      await other.evaluate('twice(window.mine)'),
      await blank.evaluate('window.mine'),
      await outcome(page.evaluate('twice(4)')),
    ];
  },
  'routes, console messages and page errors': async (page, url, context) => {
    const said: string[] = [];
    await context.route('**/routed', (route) => route.fulfill({ body: 'from here' }));
    page.on('console', (message) => said.push(message.text()));
    page.on('pageerror', ({ message }) => said.push(message));
    await page.goto(url);
    await page.setContent('<button>one</button>');
    await page.evaluate(
      `document.querySelector('button').onclick = async () => { console.log(await (await fetch('${url}/routed')).text()); throw new Error('mine') }`,
    );
    await page.locator('button').click();
    await expect.poll(() => said.length).toBe(2);
    return said;
  },
  'a page that crashes': async (page) => {
    const crashed = page.waitForEvent('crash');
    const gone = outcome(page.goto('chrome://crash'));
    await crashed;
    // Playwright's words for it depend on which of its two events it has handled.
    const clicked = String(await outcome(page.locator('button').click(SOON)));
    return [String(await gone).slice(0, 30), clicked.replace(/(Page|Target) crashed ?/, 'crashed')];
  },
};

/**
 * What makes an element ready or not is read by commands that are sent early in the same way; answers that are no
 * longer true are the subject of current-answers.spec.ts and random-actions.spec.ts.
 */
const LIKE_OTHERS =
  /^(several elements|an element (that (appears later|is (covered|uncovered|disabled.*|replaced.*))|outside the viewport))$/;

for (const [name, run] of Object.entries(CASES)) {
  test(name, slowIf(LIKE_OTHERS.test(name)), async ({ warmWays }) => {
    const { greeting, ...ways } = warmWays;
    const [plain, ahead] = await Promise.all([ways.plain, ways.ahead].map((way) => tryOn(way, greeting, run)));
    expect(ahead?.found).toEqual(plain?.found);
    expect(ahead?.contexts).toBe(plain?.contexts);
    expect([plain?.saved, ahead?.saved]).toEqual([false, true]);
  });
}

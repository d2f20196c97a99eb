import type { BrowserContext, CDPSession, Page } from '@playwright/test';
import fc from 'fast-check';
import type { DevServer } from '../../../support/cdp/dev-server.ts';
import { LISTED } from '../../../support/cdp/proxy-fixtures.ts';

/**
 * Where a page is: on the listed server, on a server of another site, or on another server of the listed server's site.
 */
const PLACES = ['listed', 'foreign', 'hostile'] as const;
type Place = (typeof PLACES)[number];
const FRAMES = ['src', 'srcdoc', 'blank', 'sandbox', 'data', 'blob'] as const;

/** Values with one byte per character, as `fetch()` accepts them for headers. */
const latin1 = fc.constantFrom('plain', 'é', 'ÿ \x80 ü', 'Ã©', '\xe6\xb5', 'a\tb');
const anyText = fc.constantFrom('plain', 'é', '测试', 'ключ', '😀', '1 2', 'a=b');

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('go' as const), to: fc.constantFrom(...PLACES) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('frame' as const),
      kind: fc.constantFrom(...FRAMES),
      to: fc.constantFrom(...PLACES),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('session' as const), detach: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cookie' as const), name: anyText, value: anyText }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('fetch' as const), header: latin1 }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('worker' as const), header: latin1 }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('socket' as const), text: anyText }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('route' as const), on: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('popup' as const), to: fc.constantFrom(...PLACES) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('redirect' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('attack' as const) }) },
);
export type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** Steps of the listed page. */
const OF_LISTED = new Set<Step['do']>(['cookie', 'fetch', 'worker', 'socket', 'redirect']);

/** Actions of a page, a test and its servers, in any order. */
export const histories = fc.array(step, { minLength: 1, maxLength: 24, size: 'max' });

/**
 * Runs first in a hostile page: it collects everything that it can read through foreign functions as loot, and offers a
 * function to every caller that looks one up by a symbol.
 */
const HOSTILE = `
  window.loot = [];
  const taker = Symbol('taker');
  globalThis[taker] = (...said) => { loot.push(['told', ...said]); return true; };
  Symbol.for = () => taker;
  const { stringify } = JSON;
  JSON.stringify = (value, ...rest) => stringify(value, ...rest);
`;

/**
 * Tries to reach the listed server in every way that a page has, and through the proxy's functions if they are
 * exposed.
 */
const ATTACK = `async (listed) => {
  const loot = (window.loot ??= []);
  const socket = (make) => {
    try {
      const opened = make();
      opened.onopen = () => loot.push('a WebSocket');
    } catch {}
  };
  const forge = (target) => {
    for (const name of Object.getOwnPropertyNames(target)) {
      if (!/^network/.test(name)) continue;
      const said = { url: 'ws://' + listed + '/stolen', protocols: [], origin: 'http://' + listed, userAgent: 'hostile' };
      for (const id of [1, 2, 3, 40]) for (const op of ['open', 'text', 'close', 'more']) {
        target[name](JSON.stringify({ op, id, ...said, data: 'x', code: 1, reason: 'x'.repeat(200) }));
      }
      target[name]('no JSON');
    }
  };
  const read = (promise) => promise.then((answer) => answer.text()).then((text) => text && loot.push(text), () => undefined);
  const popup = open('about:blank');
  const end = performance.now() + 60;
  do {
    for (const target of [window, popup, ...Array.from(frames)]) try { if (target) forge(target); } catch {}
    await new Promise((resolve) => setTimeout(resolve, 3));
  } while (performance.now() < end);
  popup?.close();
  socket(() => new WebSocket('ws://' + listed + '/stolen'));
  const url = 'http://' + listed + '/echo';
  await Promise.all([
    read(fetch(url)),
    read(fetch(url, { credentials: 'include' })),
    read(fetch(url, { method: 'PUT', headers: { 'x-stolen': '1' } })),
    read(fetch(url, { mode: 'no-cors' })),
    read(fetch('/redirect?to=' + encodeURIComponent(url))),
  ]);
  return loot.map((one) => JSON.stringify(one)).filter((one) => !one.includes('shared'));
}`;

const ICON = '<link rel=icon href=data:,>';

/** How a history's pages reach the listed server, and where the other servers are. */
export interface Ground {
  /** The server is not listed, but the proxy serves the pages that the test opens. */
  auto: boolean;
  hostile: string;
  foreign: string;
}

/** One running history: the actions so far, and what must hold because of them. */
export class ProxyHistory {
  readonly #context: BrowserContext;
  readonly #page: Page;
  readonly #listed: DevServer;
  readonly #others: DevServer;
  readonly #ground: Ground;
  readonly #sessions: CDPSession[] = [];
  readonly #cookies = new Map<string, string>();
  #place: Place | null = null;
  #routed = false;
  #sockets = 0;

  constructor(
    context: BrowserContext,
    page: Page,
    listed: DevServer,
    others: DevServer,
    ground: Ground = { auto: false, hostile: 'evil.listed.localhost', foreign: 'localhost' },
  ) {
    this.#context = context;
    this.#page = page;
    this.#listed = listed;
    this.#others = others;
    this.#ground = ground;
  }

  /** @throws Error when an expectation fails */
  async take(step: Step): Promise<void> {
    if (OF_LISTED.has(step.do) && this.#place !== 'listed') await this.#go('listed');
    // The first page is the test's, and reaches what is listed.
    if (step.do === 'attack' && (this.#place ?? 'listed') === 'listed') await this.#go('hostile');
    if (step.do === 'go') await this.#go(step.to);
    else if (step.do === 'frame') await this.#frame(step.kind, this.#urlOf(step.to));
    else if (step.do === 'session') await this.#session(step.detach);
    else if (step.do === 'route') await this.#route(step.on);
    else if (step.do === 'popup') await this.#popup(step.to);
    else if (step.do === 'cookie') await this.#cookie(step.name, step.value);
    else if (step.do === 'fetch') await this.#fetch(step.header);
    else if (step.do === 'worker') await this.#worker(step.header);
    else if (step.do === 'socket') await this.#socket(step.text);
    else if (step.do === 'redirect') await this.#redirect();
    else await this.#attack(this.#page);
    this.check();
  }

  /** Checks what must always hold for the requests that the listed server has received. */
  check(): void {
    const { upgrades, requests } = this.#listed;
    const stolen = upgrades.filter(({ path, origin }) => path !== '/own' || origin !== this.#originOf('listed'));
    expectSame('WebSockets that the listed page has not opened', stolen, []);
    expectSame('WebSockets', upgrades.length, this.#sockets);
    const written = requests.filter(({ headers }) => headers['x-stolen'] !== undefined);
    expectSame('requests that need a leave that was not given', written, []);
    if (!this.#ground.auto) return;
    const foreign = requests.filter(({ headers }) => /\/\/(evil|other)\./.test(`${headers.origin} ${headers.referer}`));
    expectSame(
      'requests of pages that are from elsewhere',
      foreign.map(({ path }) => path).filter((path) => path !== '/cors'),
      [],
    );
  }

  #originOf(place: Place): string {
    if (place === 'listed') return `http://${LISTED}:${this.#listed.port}`;
    return `http://${this.#ground[place]}:${this.#others.port}`;
  }

  #urlOf(place: Place): string {
    const html = place === 'hostile' ? `${ICON}<script>${HOSTILE}</script>` : ICON;
    return `${this.#originOf(place)}/page?html=${encodeURIComponent(html)}`;
  }

  async #go(place: Place): Promise<void> {
    await this.#page.goto(this.#urlOf(place));
    this.#place = place;
  }

  async #frame(kind: (typeof FRAMES)[number], url: string): Promise<void> {
    if (!this.#place) return;
    await this.#page.evaluate(`new Promise((resolve) => {
      const [kind, url] = ${JSON.stringify([kind, url])};
      const frame = document.createElement('iframe');
      if (kind === 'sandbox') frame.sandbox = 'allow-scripts';
      if (kind === 'src' || kind === 'sandbox') frame.src = url;
      if (kind === 'srcdoc') frame.srcdoc = '<p>x';
      if (kind === 'data') frame.src = 'data:text/html,x';
      if (kind === 'blob') frame.src = URL.createObjectURL(new Blob(['x'], { type: 'text/html' }));
      frame.onload = resolve;
      document.body.append(frame);
    })`);
  }

  async #session(detach: boolean): Promise<void> {
    if (detach) {
      await this.#sessions.pop()?.detach();
      return;
    }
    const session = await this.#context.newCDPSession(this.#page);
    this.#sessions.push(session);
    await Promise.all([session.send('Runtime.enable'), session.send('Network.enable'), session.send('Page.enable')]);
  }

  async #route(on: boolean): Promise<void> {
    if (on === this.#routed) return;
    if (on) await this.#page.route('**/echo', (route) => route.fulfill({ body: 'routed' }));
    else await this.#page.unroute('**/echo');
    this.#routed = on;
  }

  async #popup(place: Place): Promise<void> {
    // With `auto`, a page of another server cannot open a page of the listed one.
    const leads = place !== 'listed' || this.#place === 'listed' || !this.#ground.auto;
    if (!this.#place || !leads) return;
    const opened = this.#context.waitForEvent('page');
    await this.#page.evaluate(`void open(${JSON.stringify(this.#urlOf(place))})`);
    const popup = await opened;
    await popup.waitForURL('**/page?*');
    if (place !== 'listed') await this.#attack(popup);
    await popup.close();
  }

  async #cookie(name: string, value: string): Promise<void> {
    // If the name contains an equals sign, the rest of it is the value.
    if (name.includes('=')) return;
    await this.#page.evaluate(`document.cookie = ${JSON.stringify(`${name}=${value}`)}`);
    this.#cookies.set(name, value);
  }

  async #fetch(header: string): Promise<void> {
    const script = `fetch('/echo', { headers: { 'x-any': ${JSON.stringify(header)} } }).then((answer) => answer.text())`;
    this.#expectEcho(String(await this.#page.evaluate(script)), header);
  }

  async #worker(header: string): Promise<void> {
    const url = JSON.stringify(`${this.#originOf('listed')}/echo`);
    const source = `fetch(${url}, { headers: { 'x-any': ${JSON.stringify(header)} } }).then((answer) => answer.text()).then(postMessage)`;
    const text = await this.#page.evaluate(`new Promise((resolve) => {
      const worker = new Worker(URL.createObjectURL(new Blob([${JSON.stringify(source)}])));
      worker.onmessage = ({ data }) => { worker.terminate(); resolve(data); };
    })`);
    this.#expectEcho(String(text), header);
  }

  #expectEcho(text: string, header: string): void {
    if (this.#routed) {
      expectSame('the answer', text, 'routed');
      return;
    }
    const { headers } = JSON.parse(text);
    expectSame('the header', headers['x-any'], header);
    const cookies = [...this.#cookies].map(([name, value]) => Buffer.from(`${name}=${value}`).toString('latin1'));
    expectSame('the cookies', (headers.cookie ?? '').split('; ').sort().join(), cookies.sort().join());
  }

  async #socket(text: string): Promise<void> {
    this.#sockets += 1;
    const heard = await this.#page.evaluate(`new Promise((resolve, reject) => {
      const socket = new WebSocket('ws://' + location.host + '/own');
      socket.onmessage = () => {
        socket.onmessage = ({ data }) => resolve(data);
        socket.send(${JSON.stringify(text)});
      };
      socket.onclose = () => reject(new Error('the WebSocket has closed'));
    })`);
    expectSame('the echo', heard, text);
  }

  async #redirect(): Promise<void> {
    const to = `${this.#originOf('foreign')}/cors`;
    const script = `fetch('/redirect?to=' + encodeURIComponent(${JSON.stringify(to)})).then((answer) => answer.text())`;
    expectSame('what the foreign server shares', await this.#page.evaluate(script), 'shared');
    this.#cookies.set('hop', '1');
  }

  async #attack(page: Page): Promise<void> {
    const loot = await page.evaluate(`(${ATTACK})(${JSON.stringify(`${LISTED}:${this.#listed.port}`)})`);
    expectSame('what a page got that is not listed', loot, this.#routed ? expectRouted(loot) : []);
  }
}

/** The test's route answers every page, and Playwright lets every page read the response. */
function expectRouted(loot: unknown): unknown {
  return (loot as string[]).filter((one) => one === '"routed"');
}

function expectSame(what: string, seen: unknown, expected: unknown): void {
  const [one, other] = [JSON.stringify(seen), JSON.stringify(expected)];
  if (one !== other) throw new Error(`${what}: ${one}, not ${other}`);
}

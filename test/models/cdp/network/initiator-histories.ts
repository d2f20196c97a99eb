import type { BrowserContext, Frame, Page, Request } from '@playwright/test';
import type { DevServer } from '../../../support/cdp/dev-server.ts';
import { fetching, type Ground, type InitiatorStep, leading, writing } from './initiator-steps.ts';

/** Timeout of one action in a page, in ms: a page that closes meanwhile may never respond. */
const WORK_MS = 3_000;
/** Timeout of an action's effect, in ms: the browser silently blocks some actions. */
const EFFECT_MS = 250;

type Who = 'test' | 'own' | 'foreign';

/** What the oracle knows about a request, which has a unique number in its address. */
interface Cause {
  who: Who;
  what: string;
  /** No header shows the cause, and a foreign page may be involved. */
  isHidden: boolean;
  /** It is sent while its document is left, without a header that shows its cause (docs/network.md). */
  isLost?: boolean;
}

/**
 * One history and its oracle, which knows the cause of each request because it triggers them all. A document shows its
 * owner by the mark of its author, or by its origin.
 */
export class InitiatorHistory {
  readonly #context: BrowserContext;
  readonly #own: DevServer;
  readonly #second: DevServer;
  readonly #foreign: DevServer;
  readonly #ground: Ground;
  /** By number, which no other history has: a request may arrive after its history has ended. */
  readonly #causes = new Map<number, Cause>();
  readonly #requests = new Map<number, Request[]>();
  readonly #ended = new Set<Request>();
  readonly #waiting = new Set<() => void>();
  #sawForeign = false;
  readonly log: string[] = [];

  constructor(
    context: BrowserContext,
    [own, second, foreign]: readonly [DevServer, DevServer, DevServer],
    ground: Ground,
  ) {
    this.#context = context;
    this.#own = own;
    this.#second = second;
    this.#foreign = foreign;
    this.#ground = ground;
    context.on('request', (request) => {
      const number = numberOf(request.url());
      if (number !== null) this.#requests.set(number, [...(this.#requests.get(number) ?? []), request]);
      this.#wake();
    });
    const end = (request: Request) => {
      this.#ended.add(request);
      this.#wake();
    };
    context
      .on('requestfailed', end)
      .on('requestfinished', end)
      .on('page', () => this.#wake());
  }

  async begin(): Promise<void> {
    const { start, isSilent } = this.#ground;
    this.log.push(`starts with ${JSON.stringify(this.#ground)}`);
    const page = await this.#context.newPage();
    await page.goto(this.#urlOf('own', false));
    if (start === 'own') return;
    const isInside = start === 'in a foreign page' || start === 'opened by a foreign page';
    const url = this.#urlOf('foreign', isSilent);
    if (isInside) await page.goto(url);
    if (start === 'a foreign popup' || start === 'opened by a foreign page') {
      const popup = this.#context.waitForEvent('page', { timeout: WORK_MS });
      await this.#work(page.mainFrame(), `void open(${JSON.stringify(isInside ? 'about:blank' : url)})`);
      if (isInside) await (await popup).goto(this.#urlOf('own', false));
    } else {
      const frame = { actor: 0, kind: 'src', host: 'foreign', silent: isSilent, do: 'frame' } as const;
      await this.#frame(page.mainFrame(), isInside ? 'foreign' : 'own', { ...frame, kind: isInside ? 'blank' : 'src' });
      if (isInside) await page.frames()[1]?.goto(this.#urlOf('own', false));
    }
  }

  async take(step: InitiatorStep): Promise<void> {
    if (step.do === 'test') return await this.#test(step);
    const actor = await this.#actor(step.actor);
    if (!actor) return;
    const { frame, who } = actor;
    this.log.push(`${JSON.stringify(step)} by ${who} at ${frame.url().slice(0, 60)}`);
    if (step.do === 'frame') return await this.#frame(frame, who, step);
    if (step.do === 'popup') {
      const features = step.noopener ? 'noopener' : '';
      const url = this.#urlOf(who === 'foreign' ? 'foreign' : step.host, step.silent);
      await this.#work(frame, `void open(${JSON.stringify(url)}, '', '${features}')`);
      return;
    }
    await this.#act(frame, who, step);
  }

  /** @throws Error if the server received a request of a foreign page, or did not receive a request of another page */
  async check(denied: ReadonlySet<number>): Promise<void> {
    await this.#settled();
    const last = await this.#context.newPage();
    await last.goto(this.#urlOf('own', false));
    const received = [this.#own, this.#second].flatMap(({ requests }) => requests);
    const seen = new Set(received.map(({ query }) => numberOf(`?${query}`)));
    for (const [number, { who, what, isHidden, isLost }] of this.#causes) {
      const where = `${who}: ${what}\n${this.log.join('\n')}`;
      if (who === 'foreign' && seen.has(number)) throw new Error(`carried for a foreign page, #${number}, ${where}`);
      const requests = this.#requests.get(number) ?? [];
      const failures = requests.map((request) => request.failure()?.errorText ?? '');
      const isRefused = requests.length > 0 ? failures.some((text) => text.includes('REFUSED')) : denied.has(number);
      const isDocumented = isLost || (isHidden && this.#sawForeign);
      if (who !== 'foreign' && isRefused && !isDocumented) throw new Error(`refused, #${number}, ${where}`);
    }
  }

  async #test({ actor, what, host, silent }: Extract<InitiatorStep, { do: 'test' }>): Promise<void> {
    const pages = this.#context.pages();
    const page = pages[actor % pages.length];
    this.log.push(`test: ${what} ${host} at ${page?.url().slice(0, 60)}`);
    const go = async (at: Page | Frame | undefined) =>
      await at?.goto(this.#urlOf(host, silent), { timeout: WORK_MS, waitUntil: 'commit' });
    const frames = page?.frames() ?? [];
    const work: Record<typeof what, () => Promise<unknown>> = {
      goto: () => go(page),
      'frame.goto': () => go(frames[actor % Math.max(1, frames.length)]),
      'new page': async () => await go(await this.#context.newPage()),
      reload: async () => await page?.reload({ timeout: WORK_MS, waitUntil: 'commit' }),
      goBack: async () => await page?.goBack({ timeout: WORK_MS, waitUntil: 'commit' }),
      goForward: async () => await page?.goForward({ timeout: WORK_MS, waitUntil: 'commit' }),
      close: async () => (pages.length > 1 ? await page?.close() : undefined),
    };
    // A repeated navigation is refused like the first one, and a closed document cannot start one.
    await work[what]().catch(() => undefined);
  }

  /** Returns a document that can act, and its owner. */
  async #actor(pick: number): Promise<{ frame: Frame; who: Who } | null> {
    const frames = this.#context.pages().flatMap((page) => page.frames());
    for (let at = 0; at < Math.min(4, frames.length); at += 1) {
      const frame = frames[(pick + at) % frames.length];
      if (!frame || /^chrome-error/.test(frame.url())) continue;
      const whose = await this.#work(frame, `window.author ?? (window.author = self.origin)`);
      if (typeof whose !== 'string') continue;
      if (whose === 'own' || whose === this.#own.url || whose === this.#second.url) return { frame, who: 'own' };
      if (whose === 'foreign' || whose.includes('evil.example')) return { frame, who: 'foreign' };
    }
    return null;
  }

  async #frame(frame: Frame, who: Who, step: Extract<InitiatorStep, { do: 'frame' }>): Promise<void> {
    const url = this.#urlOf(step.host, step.silent, who === 'foreign' && step.host !== 'foreign' ? who : undefined);
    const html = `<script>window.author = '${who}'</script>`;
    await this.#work(
      frame,
      `(() => {
        const [kind, url, html, silent] = ${JSON.stringify([step.kind, url, html, step.silent])};
        const frame = document.createElement('iframe');
        frame.name = 'child';
        if (silent) frame.referrerPolicy = 'no-referrer';
        if (kind.startsWith('sandboxed')) frame.sandbox = 'allow-scripts allow-forms allow-popups allow-top-navigation';
        if (kind.endsWith('src')) frame.src = url;
        if (kind === 'srcdoc' || kind === 'sandboxed') frame.srcdoc = html;
        if (kind === 'data') frame.src = 'data:text/html,' + encodeURIComponent(html);
        if (kind === 'blob') frame.src = URL.createObjectURL(new Blob([html], { type: 'text/html' }));
        return new Promise((resolve) => { frame.onload = resolve; document.body.append(frame); });
      })()`,
    );
  }

  async #act(frame: Frame, who: Who, step: Extract<InitiatorStep, { do: 'lead' | 'fetch' }>): Promise<void> {
    const number = nextNumber();
    // If the response comes from a foreign server, that server is the cause.
    const cause = step.to === 'through foreign' ? 'foreign' : who;
    const url = this.#wayTo(step, number);
    const isOpaque = /^(about|data|blob|$)/.test(frame.url()) || step.written !== 'no';
    const isHidden = step.hidden || isOpaque || (await this.#isSilent(frame));
    if (step.to !== 'foreign') {
      const isLost = isHidden && step.do === 'fetch' && step.when === 'as it is left';
      this.#causes.set(number, { who: cause, what: JSON.stringify(step), isHidden, isLost });
    }
    if (step.to.includes('foreign')) this.#sawForeign = true;
    const script = step.do === 'lead' ? leading(step, url) : fetching(step, url);
    const wrapped = step.written === 'no' ? script : writing(step.written, step.hidden, script);
    const left = {
      stays: '',
      blanks: `location = 'about:blank';`,
      closes: 'close();',
      'blanks the opener': `if (opener) opener.location = 'about:blank';`,
      'is removed': 'frameElement?.remove();',
    }[step.leave];
    await this.#work(frame, `(() => { try { ${wrapped} } finally { try { ${left} } catch {} } })()`);
    await this.#until(() => this.#isOver(number), EFFECT_MS);
  }

  async #isSilent(frame: Frame): Promise<boolean> {
    return (await this.#work(frame, `document.querySelector('meta[name=referrer]') !== null`)) !== false;
  }

  #wayTo({ to, port }: Pick<Extract<InitiatorStep, { do: 'lead' }>, 'to' | 'port'>, number: number): string {
    if (to === 'foreign') return this.#urlOf('foreign', false);
    const [server, other] = port === 'own' ? [this.#own, this.#second] : [this.#second, this.#own];
    const hit = `${server.url}/page?n=${number}&html=hit`;
    if (to === 'own') return hit;
    const through = to === 'through own' ? other.url : `http://evil.example:${this.#foreign.port}`;
    return `${through}/redirect?${to === 'through own' ? `n=${number}&` : ''}to=${encodeURIComponent(hit)}`;
  }

  /** @param cause the initiator, if it is neither the test nor a page of the server */
  #urlOf(host: 'own' | 'second' | 'foreign', silent: boolean, cause?: Who): string {
    const isForeign = host === 'foreign' && this.#ground.hasForeign;
    if (isForeign) this.#sawForeign = true;
    const html = silent
      ? '<meta name=referrer content=no-referrer><link rel=icon href=data:,>'
      : '<link rel=icon href=data:,>';
    if (isForeign) return `http://evil.example:${this.#foreign.port}/page?html=${encodeURIComponent(html)}`;
    const number = cause && nextNumber();
    if (cause && number) this.#causes.set(number, { who: cause, what: 'a frame', isHidden: true });
    const { url } = host === 'second' ? this.#second : this.#own;
    return `${url}/page?${number === undefined ? '' : `n=${number}&`}html=${encodeURIComponent(html)}`;
  }

  #isOver(number: number): boolean {
    const requests = this.#requests.get(number) ?? [];
    return requests.length > 0 && requests.every((request) => this.#ended.has(request));
  }

  /** Waits until all requests have ended. */
  async #settled(): Promise<void> {
    const all = () => [...this.#requests.keys()].every((number) => this.#isOver(number));
    await this.#until(all, WORK_MS);
  }

  async #until(holds: () => boolean, ms: number): Promise<void> {
    const deadline = performance.now() + ms;
    for (let left = ms; !holds() && left > 0; left = deadline - performance.now()) {
      await new Promise<void>((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          this.#waiting.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, left);
        this.#waiting.add(wake);
      });
    }
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /** Returns the result of a script in a document; undefined if the document goes away or cannot run scripts. */
  async #work(frame: Frame, script: string): Promise<unknown> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, WORK_MS);
    });
    return await Promise.race([frame.evaluate(script).catch(() => undefined), late]).finally(() => clearTimeout(timer));
  }
}

let lastNumber = 0;

function nextNumber(): number {
  lastNumber += 1;
  return lastNumber;
}

/** Returns the number of a request from its address, or from the address that it redirects to. */
export function numberOf(url: string): number | null {
  const [, number] = /[?&]n=(\d+)/.exec(decodeURIComponent(url)) ?? [];
  return number === undefined ? null : Number(number);
}

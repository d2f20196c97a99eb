import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import { propertyRuns } from '../../../support/property-runs.ts';
import { LISTED_ORIGIN, ScriptedBrowser } from '../../../support/unit/cdp/scripted-browser.ts';

const TYPES = ['page', 'iframe', 'service_worker', 'worker'] as const;
const index = fc.nat({ max: 5 });
const few = fc.nat({ max: 1 });
const origin = fc.constantFrom(LISTED_ORIGIN, LISTED_ORIGIN, 'http://elsewhere.example', '://', '');
const call = fc.record({
  do: fc.constant('call' as const),
  session: index,
  from: few,
  payload: fc.oneof(
    fc.record({ op: fc.constant('open'), id: few, url: fc.constant(LISTED_ORIGIN.replace('http', 'ws')) }),
    fc.record({ op: fc.constant('open'), id: few, url: fc.constant(LISTED_ORIGIN.replace('http', 'ws')) }),
    fc.record({ op: fc.constant('open'), id: few, url: fc.string() }),
    fc.record({ op: fc.constantFrom('text', 'binary'), id: few, data: fc.string() }),
    fc.record({
      op: fc.constant('close'),
      id: few,
      code: fc.option(fc.integer({ max: 5_000 }), { nil: undefined }),
      reason: fc.string({ maxLength: 200 }),
    }),
    fc.record({ op: fc.constantFrom('more', 'drop'), id: fc.string() }),
    fc.jsonValue(),
  ),
  protocols: fc.array(fc.constantFrom('one', 'two', 'no token'), { maxLength: 2 }),
  userAgent: fc.oneof(fc.constant('agent'), fc.string({ unit: 'binary' })),
});
const step = fc.oneof(
  fc.record({
    do: fc.constant('attach' as const),
    target: fc.nat({ max: 3 }),
    /** By whom: the connection itself, a test's session with the browser, or a session that is there. */
    over: fc.oneof(fc.constantFrom('root' as const, 'test' as const), index),
  }),
  fc.record({ do: fc.constant('detach' as const), session: index }),
  fc.record({ do: fc.constant('context' as const), session: index, id: few, isDefault: fc.boolean(), origin }),
  fc.record({ do: fc.constant('clear' as const), session: index }),
  call,
  call,
  call,
  fc.record({ do: fc.constant('pause' as const), session: index, listed: fc.boolean(), headers: fc.string() }),
  fc.record({ do: fc.constant('intercept' as const), session: index, on: fc.boolean() }),
  fc.record({ do: fc.constant('continue' as const) }),
  // Lets what is under way go on.
  fc.record({ do: fc.constant('turn' as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

interface Session {
  id: string;
  target: number;
  /** Playwright's own, and so the bridge's. */
  served: boolean;
  intercepts: boolean;
  /** Of each context that is there, whether it is a listed page's own. */
  contexts: Map<number, boolean>;
  /** Of each WebSocket that a page has numbered, the last one that was begun. */
  begun: Map<string, unknown>;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** What has to come of a history, beside the bridge that it comes of. */
class Model {
  readonly browser = new ScriptedBrowser();
  readonly #sessions: Session[] = [];
  #count = 0;
  /** Stopped requests that Playwright has to let go. */
  readonly #withPlaywright: { requestId: string; session: Session; listed: boolean }[] = [];
  /** Stopped requests that the bridge has to let go, once each. */
  readonly #withBridge = new Map<string, Session>();

  constructor() {
    // Every history has a page of a listed server to begin with.
    this.#attach(0, 'root');
    for (const page of this.#sessions) this.#context(page, 0, true, LISTED_ORIGIN);
  }

  async take(step: Step): Promise<void> {
    if (step.do === 'turn') await turn();
    else if (step.do === 'attach') this.#attach(step.target, step.over);
    else if (step.do === 'continue') this.#continue();
    else {
      const session = this.#sessions[step.session % this.#sessions.length];
      if (session) this.#takeOf(session, step);
    }
  }

  #takeOf(session: Session, step: Exclude<Step, { do: 'attach' | 'continue' | 'turn' }>): void {
    if (step.do === 'detach') this.#detach(session);
    else if (step.do === 'context') this.#context(session, step.id, step.isDefault, step.origin);
    else if (step.do === 'clear') this.#clear(session);
    else if (step.do === 'call') this.#call(session, step);
    else if (step.do === 'pause') this.#pause(session, step.listed, step.headers);
    else this.#intercept(session, step.on);
  }

  /** Waits for what is under way, each within its bound. */
  async end(): Promise<void> {
    const late = Date.now() + 5_000;
    const waiting = () =>
      [...this.#withBridge].filter(([id, { id: at }]) => this.#isThere(at) && this.browser.answers(id) < 1);
    while (waiting().length > 0 && Date.now() < late) await turn();
    expect(waiting().map(([id]) => id)).toEqual([]);
    for (const [id] of this.#withBridge) expect(this.browser.answers(id), id).toBeLessThanOrEqual(1);
    this.browser.end();
    // Until then nobody says that a rejection is nobody's.
    await turn();
  }

  #isThere(id: string): boolean {
    return this.#sessions.some((session) => session.id === id);
  }

  #attach(target: number, over: 'root' | 'test' | number): void {
    const parent = typeof over === 'number' ? this.#sessions[over % this.#sessions.length] : undefined;
    if (typeof over === 'number' && !parent) return;
    const type = TYPES[target] ?? 'page';
    const isTaken = this.#sessions.some((session) => session.target === target && session.served);
    const served = type !== 'worker' && !isTaken && (over === 'root' || parent?.served === true);
    this.#count += 1;
    const id = `session ${this.#count}`;
    this.browser.says({
      method: 'Target.attachedToTarget',
      params: { sessionId: id, targetInfo: { targetId: `target ${target}`, type, browserContextId: 'context' } },
      ...(over !== 'root' && { sessionId: parent?.id ?? 'a session with the browser' }),
    });
    this.#sessions.push({ id, target, served, intercepts: false, contexts: new Map(), begun: new Map() });
    expect(this.browser.commands(id, 'Fetch.enable').length, 'stops requests').toBe(served ? 1 : 0);
    const isDocument = type === 'page' || type === 'iframe';
    expect(this.browser.bindings(id).length, 'bindings').toBe(served && isDocument ? 2 : 0);
  }

  #detach(session: Session): void {
    this.browser.says({ method: 'Target.detachedFromTarget', params: { sessionId: session.id } });
    this.#sessions.splice(this.#sessions.indexOf(session), 1);
  }

  #context(session: Session, id: number, isDefault: boolean, origin: string): void {
    const context = { id, uniqueId: `${++this.#count}`, origin, auxData: { isDefault, frameId: 'frame' } };
    if (session.contexts.has(id)) return;
    this.browser.says({ method: 'Runtime.executionContextCreated', sessionId: session.id, params: { context } });
    session.contexts.set(id, session.served && isDefault && origin === LISTED_ORIGIN);
  }

  #clear(session: Session): void {
    this.browser.says({ method: 'Runtime.executionContextsCleared', sessionId: session.id, params: {} });
    session.contexts.clear();
  }

  #call(session: Session, { from, payload, protocols, userAgent }: Extract<Step, { do: 'call' }>): void {
    // A session that is not served has none; then it is another one's that is called there.
    const bindings = this.#sessions.flatMap(({ id }) => this.browser.bindings(id));
    const said = typeof payload === 'object' && payload !== null ? { protocols, userAgent, ...payload } : payload;
    const { op, id, url } = (said ?? {}) as { op?: unknown; id?: unknown; url?: unknown };
    const isOpening = bindings.length > 0 && op === 'open' && typeof id === 'number' && /^wss?:/.test(String(url));
    const key = `${from} ${id}`;
    // A number is free again once its WebSocket has ended.
    const isFree = !this.browser.hasSocket(session.begun.get(key));
    const before = this.browser.sockets(session.id);
    for (const name of new Set(bindings)) {
      const params = { name, payload: JSON.stringify(said), executionContextId: from };
      this.browser.says({ method: 'Runtime.bindingCalled', sessionId: session.id, params });
    }
    const after = this.browser.sockets(session.id);
    const isBegun = isOpening && isFree && session.contexts.get(from) === true;
    expect(after.length - before.length, 'WebSockets').toBe(isBegun ? 1 : 0);
    if (isBegun) session.begun.set(key, after.at(-1));
  }

  #pause(session: Session, listed: boolean, header: string): void {
    const requestId = `request ${++this.#count}`;
    const url = listed ? `${LISTED_ORIGIN}/` : 'http://elsewhere.example/';
    const request = { url, method: 'GET', headers: { 'user-agent': header } };
    const isHeard = this.browser.says({
      method: 'Fetch.requestPaused',
      sessionId: session.id,
      params: { requestId, networkId: requestId, request },
    });
    expect(isHeard, 'Playwright hears of it').toBe(!session.served || session.intercepts);
    if (session.served && !session.intercepts) this.#withBridge.set(requestId, session);
    else this.#withPlaywright.push({ requestId, session, listed });
  }

  #intercept(session: Session, on: boolean): void {
    const command = { id: 1, sessionId: session.id, method: on ? 'Fetch.enable' : 'Fetch.disable', params: {} };
    const put = this.browser.asked(command);
    // The bridge goes on to need what Playwright needs no more.
    expect(put?.method).toBe(on || session.served ? 'Fetch.enable' : 'Fetch.disable');
    session.intercepts = on;
  }

  #continue(): void {
    const paused = this.#withPlaywright.shift();
    if (!paused || !this.#isThere(paused.session.id)) return;
    const { requestId, session, listed } = paused;
    const command = { id: 1, sessionId: session.id, method: 'Fetch.continueRequest', params: { requestId } };
    const isCarried = session.served && listed;
    expect(this.browser.asked(command)).toEqual(isCarried ? null : command);
    if (isCarried) this.#withBridge.set(requestId, session);
  }
}

test('any order of targets, sessions, worlds, calls and stopped requests', async () => {
  test.setTimeout(120_000);
  const raised: unknown[] = [];
  const note = (error: unknown) => raised.push(error);
  process.on('unhandledRejection', note).on('uncaughtException', note);
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
        const model = new Model();
        for (const one of steps) await model.take(one);
        await model.end();
        expect(raised.splice(0)).toEqual([]);
      }),
      { ...propertyRuns(100), interruptAfterTimeLimit: 60_000 },
    );
  } finally {
    process.off('unhandledRejection', note).off('uncaughtException', note);
  }
});

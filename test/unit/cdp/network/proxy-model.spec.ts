import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from '@playwright/test';
import fc from 'fast-check';
import { anyText } from '../../../support/any-text.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { LISTED_ORIGIN, ScriptedBrowser } from './scripted-browser.ts';

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
  userAgent: fc.oneof(fc.constant('agent'), anyText()),
});
const step = fc.oneof(
  fc.record({
    do: fc.constant('attach' as const),
    target: fc.nat({ max: 3 }),
    /** The session that attaches: the root session, a test's session with the browser, or an existing session. */
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
  // Lets pending work continue.
  fc.record({ do: fc.constant('turn' as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

interface Session {
  id: string;
  target: number;
  parent: Session | undefined;
  /** Playwright's own session. */
  isClients: boolean;
  /** The proxy uses it, too. */
  served: boolean;
  /** Its documents, or a worker of it, may talk to the proxy. */
  isBound: boolean;
  isWorker: boolean;
  intercepts: boolean;
  /** Its existing contexts, and whether each is a listed page's main world. */
  contexts: Map<number, boolean>;
  /** For each WebSocket number of a page, the last WebSocket opened with it. */
  begun: Map<string, unknown>;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** The expected result of a history, next to the real proxy. */
class Model {
  readonly browser = new ScriptedBrowser();
  readonly #sessions: Session[] = [];
  #count = 0;
  /** Paused requests that Playwright must release. */
  readonly #withPlaywright: { requestId: string; session: Session; listed: boolean }[] = [];
  /** Paused requests that the proxy must release, once each. */
  readonly #proxied = new Map<string, Session>();

  constructor() {
    // Every history begins with a page of a listed server.
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

  /** Waits for pending work, each part within its time limit. */
  async end(): Promise<void> {
    const late = Date.now() + 5_000;
    const waiting = () =>
      [...this.#proxied].filter(([id, { id: at }]) => this.#isThere(at) && this.browser.answers(id) < 1);
    while (waiting().length > 0 && Date.now() < late) await turn();
    deepEqual(
      waiting().map(([id]) => id),
      [],
    );
    for (const [id] of this.#proxied) ok(this.browser.answers(id) <= 1, id);
    this.browser.end();
    // Node reports unhandled rejections only after this.
    await turn();
  }

  #isThere(id: string): boolean {
    return this.#sessions.some((session) => session.id === id);
  }

  #attach(target: number, over: 'root' | 'test' | number): void {
    const parent = typeof over === 'number' ? this.#sessions[over % this.#sessions.length] : undefined;
    if (typeof over === 'number' && !parent) return;
    const type = TYPES[target] ?? 'page';
    const isTaken = this.#sessions.some((session) => session.target === target && session.isClients);
    const isClients = !isTaken && (over === 'root' || parent?.isClients === true);
    const served = type !== 'worker' && isClients;
    this.#count += 1;
    const id = `session ${this.#count}`;
    this.browser.says({
      method: 'Target.attachedToTarget',
      params: { sessionId: id, targetInfo: { targetId: `target ${target}`, type, browserContextId: 'context' } },
      ...(over !== 'root' && { sessionId: parent?.id ?? 'a session with the browser' }),
    });
    const isWorker = type !== 'page' && type !== 'iframe';
    const isBound = served || (type === 'worker' && parent?.isBound === true);
    const base = { id, target, parent, isClients, served, isBound, isWorker };
    this.#sessions.push({ ...base, intercepts: false, contexts: new Map(), begun: new Map() });
    equal(this.browser.commands(id, 'Fetch.enable').length, served ? 1 : 0, 'stops requests');
    equal(this.browser.bindings(id).length, isBound ? 1 : 0, 'bindings');
  }

  #detach(session: Session): void {
    this.browser.says({ method: 'Target.detachedFromTarget', params: { sessionId: session.id } });
    this.#end(session);
  }

  #end(session: Session): void {
    this.#sessions.splice(this.#sessions.indexOf(session), 1);
    for (const child of this.#sessions.filter(({ parent }) => parent === session)) this.#end(child);
  }

  #context(session: Session, id: number, isDefault: boolean, origin: string): void {
    const context = { id, uniqueId: `${++this.#count}`, origin, auxData: { isDefault, frameId: 'frame' } };
    if (session.contexts.has(id)) return;
    this.browser.says({ method: 'Runtime.executionContextCreated', sessionId: session.id, params: { context } });
    // The origin of a worker is that of its script, which no message of this test has.
    // One without an origin reaches what every page reaches.
    const isReaching = origin === LISTED_ORIGIN || !URL.canParse(origin);
    session.contexts.set(id, session.served && !session.isWorker && isDefault && isReaching);
  }

  #clear(session: Session): void {
    this.browser.says({ method: 'Runtime.executionContextsCleared', sessionId: session.id, params: {} });
    session.contexts.clear();
  }

  #call(session: Session, { from, payload, protocols, userAgent }: Extract<Step, { do: 'call' }>): void {
    // A session that is not served has no binding; the call then uses another session's.
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
    equal(after.length - before.length, isBegun ? 1 : 0, 'WebSockets');
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
    equal(isHeard, !session.served || session.intercepts, 'Playwright hears of it');
    if (session.served && !session.intercepts) this.#proxied.set(requestId, session);
    else this.#withPlaywright.push({ requestId, session, listed });
  }

  #intercept(session: Session, on: boolean): void {
    const command = { id: 1, sessionId: session.id, method: on ? 'Fetch.enable' : 'Fetch.disable', params: {} };
    const put = this.browser.asked(command);
    // The proxy still needs pausing when Playwright no longer does.
    equal(put?.method, on || session.served ? 'Fetch.enable' : 'Fetch.disable');
    session.intercepts = on;
  }

  #continue(): void {
    const paused = this.#withPlaywright.shift();
    if (!paused || !this.#isThere(paused.session.id)) return;
    const { requestId, session, listed } = paused;
    const command = { id: 1, sessionId: session.id, method: 'Fetch.continueRequest', params: { requestId } };
    const isProxied = session.served && listed;
    deepEqual(this.browser.asked(command), isProxied ? null : command);
    if (isProxied) this.#proxied.set(requestId, session);
  }
}

test('keeps its invariants for any order of targets, sessions, worlds, calls and paused requests', async () => {
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
        deepEqual(raised.splice(0), []);
      }),
      { ...propertyRuns(1000, 100), interruptAfterTimeLimit: 60_000 },
    );
  } finally {
    process.off('unhandledRejection', note).off('uncaughtException', note);
  }
});

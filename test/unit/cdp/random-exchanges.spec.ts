import { deepEqual } from 'node:assert/strict';
import { test } from '@playwright/test';
import fc from 'fast-check';
import type { CdpMessage } from '../../../src/cdp/message.ts';
import { ClientAccount } from '../../models/cdp/client-account.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { FakeBrowser } from '../../support/unit/cdp/fake-browser.ts';
import { interceptors } from '../../support/unit/cdp/interceptors.ts';

/**
 * Each interceptor alone, in exchanges that no browser and no Playwright would produce: nothing throws, unrelated
 * messages pass unchanged and in order, and every command gets exactly one response, or ends with its session.
 */

const RUNS = 1000;
/** A session that is never attached. */
const ELSEWHERE = 'a session that nobody announces';

const id = fc.constantFrom('one', 'two', 'own', 'three');
/** Mostly the expected value of a field, sometimes junk. */
const orJunk = <T>(right: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 6, arbitrary: right }, { weight: 1, arbitrary: fc.jsonValue() });
const fields = (right: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> =>
  orJunk(
    fc.record(Object.fromEntries(Object.entries(right).map(([name, value]) => [name, orJunk(value)])), {
      requiredKeys: [],
    }),
  );

const url = fc.constantFrom('http://127.0.0.1:1/', 'http://elsewhere.example/', 'about:blank', '://');
const headers = fc.dictionary(fc.constantFrom('accept', 'cookie'), fc.string());
const params = fields({
  sessionId: id,
  targetId: id,
  browserContextId: id,
  requestId: id,
  networkId: id,
  guid: id,
  objectId: id,
  url,
  targetInfo: fields({
    targetId: id,
    type: fc.constantFrom('page', 'iframe', 'worker', 'service_worker', 'browser'),
    browserContextId: id,
  }),
  request: fields({ url, method: fc.constant('GET'), headers }),
  response: fields({ url, encodedDataLength: fc.nat(), headersText: fc.string(), connectionId: fc.nat() }),
  redirectResponse: fields({ url, encodedDataLength: fc.nat() }),
  responseStatusCode: fc.constant(200),
  encodedDataLength: fc.nat(),
  receivedBytes: fc.nat(),
  state: fc.constantFrom('inProgress', 'completed', 'canceled'),
  type: fc.constantFrom('Document', 'BackForwardCacheRestore'),
  frame: fields({ id, loaderId: id }),
  context: fields({
    id: fc.nat({ max: 2 }),
    uniqueId: id,
    origin: url,
    auxData: fields({ isDefault: fc.boolean(), frameId: id }),
  }),
  executionContextId: fc.nat({ max: 2 }),
  name: fc.string(),
  payload: fc.json(),
  source: fc.string(),
  worldName: fc.string(),
  authChallengeResponse: fields({ response: fc.constant('ProvideCredentials') }),
  headers: fc.array(fields({ name: fc.constant('accept'), value: fc.string() })),
});
/** Paths on this machine; none of these files or directories exists. */
const paths = fc.record({
  downloadPath: orJunk(fc.constant('/nowhere/at/all')).map((path) => (typeof path === 'string' ? '/nowhere' : path)),
  objectId: id,
  files: orJunk(fc.array(fc.constantFrom('/nowhere', '\0', '/dev/null', 'x'.repeat(5000)))),
});

const commandMethod = fc.constantFrom(
  'Target.setAutoAttach',
  'Target.createBrowserContext',
  'Target.disposeBrowserContext',
  'Target.createTarget',
  'Page.addScriptToEvaluateOnNewDocument',
  'Fetch.enable',
  'Fetch.disable',
  'Fetch.continueRequest',
  'Fetch.fulfillRequest',
  'Fetch.continueWithAuth',
  'Security.setIgnoreCertificateErrors',
  'Network.emulateNetworkConditions',
);
const eventMethod = fc.constantFrom(
  'Target.attachedToTarget',
  'Target.attachedToTarget',
  'Target.detachedFromTarget',
  'Target.targetInfoChanged',
  'Target.targetDestroyed',
  'Page.frameNavigated',
  'Network.requestWillBeSent',
  'Network.responseReceived',
  'Network.dataReceived',
  'Network.loadingFinished',
  'Network.loadingFailed',
  'Network.requestServedFromCache',
  'Network.webSocketFrameReceived',
  'Fetch.requestPaused',
  'Runtime.executionContextCreated',
  'Runtime.executionContextDestroyed',
  'Runtime.executionContextsCleared',
  'Runtime.bindingCalled',
  'Browser.downloadWillBegin',
  'Browser.downloadProgress',
);
const session = fc.option(id, { nil: undefined });
const step = fc.oneof(
  fc.record({ do: fc.constant('command' as const), method: commandMethod, params, sessionId: session }),
  fc.record({
    do: fc.constant('command' as const),
    method: fc.constantFrom('DOM.setFileInputFiles', 'Browser.setDownloadBehavior'),
    params: paths,
    sessionId: session,
  }),
  fc.record({ do: fc.constant('event' as const), method: eventMethod, params, sessionId: session }),
  fc.record({ do: fc.constant('event' as const), method: eventMethod, params, sessionId: session }),
  fc.record({
    do: fc.constant('others' as const),
    method: fc.constantFrom('Other.thing', 'Page.enable', 'Emulation.setLocaleOverride'),
    params: fc.jsonValue(),
  }),
  fc.record({
    do: fc.constant('answer' as const),
    outcome: fc.constantFrom('right' as const, 'empty' as const, 'refused' as const),
  }),
  fc.record({ do: fc.constant('turn' as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** An exchange on one connection. */
class Exchange {
  readonly #browser: FakeBrowser;
  readonly #others: { commands: CdpMessage[]; events: CdpMessage[] } = { commands: [], events: [] };
  readonly #account = new ClientAccount();
  #lastId = 0;

  constructor(browser: FakeBrowser) {
    this.#browser = browser;
    browser.onMessage = (message) => this.#account.gets(message);
  }

  async take(step: Step): Promise<void> {
    if (step.do === 'turn') await new Promise((resolve) => setImmediate(resolve));
    else if (step.do === 'answer') this.#browser.answer(step.outcome);
    else if (step.do === 'command') this.#send({ method: step.method, params: step.params, sessionId: step.sessionId });
    else if (step.do === 'event') {
      this.#browser.says({ method: step.method, params: step.params, sessionId: step.sessionId });
    } else {
      const { method, params } = step;
      this.#others.commands.push(this.#send({ method, params, sessionId: ELSEWHERE }));
      this.#others.events.push({ method, params, sessionId: ELSEWHERE }, { method, params });
      for (const event of this.#others.events.slice(-2)) this.#browser.says(event);
    }
  }

  async end(): Promise<void> {
    await this.#browser.settle();
    const { toBrowser, toClient } = this.#browser;
    const { commands, events } = this.#others;
    deepEqual(
      toBrowser.filter((command) => commands.includes(command)),
      commands,
    );
    deepEqual(
      toClient.filter((message) => events.includes(message)),
      events,
    );
    deepEqual([...this.#account.faults, ...this.#account.unanswered], []);
    this.#browser.list.end();
    // Node reports unhandled rejections only after this.
    await new Promise((resolve) => setImmediate(resolve));
  }

  #send(command: CdpMessage): CdpMessage {
    this.#lastId += 1;
    const numbered = { id: this.#lastId, ...command };
    this.#account.asks(numbered);
    this.#browser.list.command(numbered);
    return numbered;
  }
}

for (const [name, create] of Object.entries(interceptors())) {
  test(`${name}: keeps its invariants in random exchanges`, async () => {
    const raised: unknown[] = [];
    const note = (error: unknown) => raised.push(error);
    process.on('unhandledRejection', note).on('uncaughtException', note);
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), async (steps) => {
          const exchange = new Exchange(new FakeBrowser(create));
          for (const one of steps) await exchange.take(one);
          await exchange.end();
          deepEqual(raised.splice(0), []);
        }),
        { ...propertyRuns(RUNS, 100), interruptAfterTimeLimit: 60_000 },
      );
    } finally {
      process.off('unhandledRejection', note).off('uncaughtException', note);
    }
  });
}

import { deepEqual } from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from '@playwright/test';
import fc from 'fast-check';
import { Meter, Savings } from '../../../src/cdp/figures.ts';
import type { CdpMessage } from '../../../src/cdp/message.ts';
import { type InterceptorOptions, interceptorsFor } from '../../../src/cdp/pipeline.ts';
import { InterceptorList } from '../../../src/cdp/transport/interceptor-list.ts';
import { parseNetworkRules } from '../../../src/options/network-rules.ts';
import { ClientAccount } from '../../models/cdp/client-account.ts';
import { ModelBrowser } from '../../models/cdp/model-browser.ts';
import { propertyRuns } from '../../support/property-runs.ts';

/**
 * All interceptors of a transport together, between a client and a browser that do anything in any order: each command
 * of the client gets one response, whatever happens to its document, frame, target or process.
 */

const RUNS = propertyRuns(40);
/** Time limit for the last responses once the browser has responded to everything, in ms. */
const SETTLED_MS = 5_000;
/** Nothing listens on this port. */
const PROXIED = '127.0.0.1:1';

function far(): Savings {
  const savings = new Savings(0);
  savings.measured(100);
  return savings;
}

const proxiedHosts = () => parseNetworkRules(PROXIED);
const LISTS: Record<string, () => InterceptorOptions> = {
  'Playwright, ahead, auto': () => ({
    ahead: true,
    sharesBrowser: true,
    savings: far(),
    auto: { onVisit: () => undefined },
    meter: new Meter(),
  }),
  'Playwright, ahead, listed hosts': () => ({
    ahead: true,
    sharesBrowser: true,
    savings: far(),
    proxiedHosts: proxiedHosts(),
  }),
  'Playwright, persistent context': () => ({
    ahead: true,
    sharesBrowser: true,
    savings: far(),
    persistent: { clear: true },
    auto: { onVisit: () => undefined },
    meter: new Meter(),
  }),
  'Playwright, plain': () => ({ meter: new Meter() }),
  Puppeteer: () => ({ client: 'puppeteer', proxiedHosts: proxiedHosts(), meter: new Meter() }),
  'Puppeteer, ahead': () => ({
    client: 'puppeteer',
    ahead: true,
    sharesBrowser: true,
    savings: far(),
    auto: { onVisit: () => undefined },
    meter: new Meter(),
  }),
};

/** Commands to the browser and to a page. `%context` and so on stand for values that the client has received. */
const OF_BROWSER: [method: string, params: object][] = [
  ['Target.createBrowserContext', {}],
  ['Target.createBrowserContext', {}],
  ['Target.disposeBrowserContext', { browserContextId: '%context' }],
  ['Target.createTarget', { url: 'about:blank', browserContextId: '%context' }],
  ['Target.createTarget', { url: 'about:blank', browserContextId: '%context' }],
  [
    'Browser.setDownloadBehavior',
    { behavior: 'allowAndName', downloadPath: '%directory', browserContextId: '%context' },
  ],
  ['Browser.cancelDownload', { guid: 'file' }],
  ['Target.attachToBrowserTarget', {}],
  ['Browser.close', {}],
];
const SCRIPT = { expression: '\n(() => { return "script"; })();\n', contextId: '%world' };
const OF_PAGE: [method: string, params: object][] = [
  ['Page.enable', {}],
  ['Page.addScriptToEvaluateOnNewDocument', { source: '', worldName: 'client world' }],
  ['Page.createIsolatedWorld', { worldName: 'client world' }],
  ['Page.navigate', { url: 'http://127.0.0.1:1/', frameId: '%target' }],
  ['Page.navigate', { url: 'http://elsewhere.example/', frameId: '%target' }],
  ['Page.reload', {}],
  ['Page.captureScreenshot', {}],
  ['Page.captureScreenshot', {}],
  ['Page.setDownloadBehavior', { behavior: 'allow', downloadPath: '%directory' }],
  ['Runtime.evaluate', SCRIPT],
  ['Runtime.evaluate', SCRIPT],
  [
    'Runtime.callFunctionOn',
    { objectId: '%object', functionDeclaration: 'f', arguments: [{ value: '(r) => r.element' }] },
  ],
  ['Runtime.callFunctionOn', { objectId: '%object', functionDeclaration: 'f', arguments: [{ objectId: '%object' }] }],
  ['Runtime.callFunctionOn', { functionDeclaration: '() => { return document; }', executionContextId: '%world' }],
  ['DOM.describeNode', { objectId: '%object' }],
  ['DOM.describeNode', { objectId: '%object' }],
  ['DOM.resolveNode', { backendNodeId: '%node', executionContextId: '%world' }],
  ['Runtime.releaseObject', { objectId: '%object' }],
  ['DOM.getContentQuads', { objectId: '%object' }],
  ['DOM.setFileInputFiles', { objectId: '%object', files: ['%file'] }],
  ['DOM.setFileInputFiles', { objectId: '%object', files: ['%directory'] }],
  ['Input.dispatchMouseEvent', { type: 'mousePressed' }],
  ['Fetch.enable', { patterns: [{ urlPattern: '*' }] }],
  ['Fetch.disable', {}],
  ['Fetch.continueRequest', { requestId: '%request' }],
  ['Fetch.fulfillRequest', { requestId: '%request' }],
  ['Debugger.enable', {}],
  ['Network.getResponseBody', { requestId: '%request' }],
];

/** A client whose commands refer to anything it has received. */
class Client {
  readonly account = new ClientAccount();
  readonly #heard: Record<string, unknown[]>;
  readonly #send: (command: CdpMessage) => void;
  /** Chromium leaves commands to crashed pages pending until they navigate; Playwright sends none. */
  readonly #crashed = new Set<string>();
  #id = 0;

  constructor(directory: string, send: (command: CdpMessage) => void) {
    this.#send = send;
    this.#heard = { directory: [directory], file: [join(directory, 'file')] };
  }

  gets(message: CdpMessage): void {
    this.account.gets(message);
    const names: Record<string, string> = {
      browserContextId: 'context',
      targetId: 'target',
      objectId: 'object',
      backendNodeId: 'node',
      requestId: 'request',
    };
    JSON.stringify(message, (field, value) => {
      const name = names[field];
      if (name !== undefined && typeof value !== 'object') this.#hear(name, value);
      return value;
    });
    const { method, sessionId = '' } = message;
    if (method === 'Inspector.targetCrashed') this.#crashed.add(sessionId);
    if (method === 'Page.frameNavigated') this.#crashed.delete(sessionId);
    if (method !== 'Runtime.executionContextCreated') return;
    this.#hear('world', (message.params as { context: { id: number } }).context.id);
  }

  asks(number: number, isOfPage: boolean): void {
    const sessions = [...this.account.sessions.keys()].filter((sessionId) => !this.#crashed.has(sessionId));
    const list = isOfPage && sessions.length > 0 ? OF_PAGE : OF_BROWSER;
    const [method, template] = list[number % list.length] ?? ['Page.enable', {}];
    const params = JSON.parse(JSON.stringify(template), (_, value) => {
      if (typeof value !== 'string' || !value.startsWith('%')) return value;
      // Mostly the newest.
      const heard = this.#heard[value.slice(1)] ?? [];
      return heard[Math.max(0, heard.length - 1 - (number % 3))];
    });
    const sessionId = list === OF_PAGE ? sessions[Math.floor(number / 7) % sessions.length] : undefined;
    const command = { id: ++this.#id, method, params, ...(sessionId !== undefined && { sessionId }) };
    this.account.asks(command);
    this.#send(command);
  }

  #hear(name: string, value: unknown): void {
    const heard = this.#heard[name] ?? [];
    if (!heard.includes(value)) heard.push(value);
    this.#heard[name] = heard;
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const step = fc.tuple(
  fc.constantFrom(
    ...(['page', 'page', 'page', 'page', 'browser', 'browser', 'answer', 'answer', 'answer', 'answer'] as const),
    ...(['all', 'event', 'event', 'navigate', 'navigate late', 'crash', 'close', 'open', 'turn', 'turn'] as const),
  ),
  fc.nat({ max: 200 }),
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

async function faultsOf(options: InterceptorOptions, steps: readonly Step[], directory: string): Promise<string[]> {
  const queue: CdpMessage[] = [];
  const list: InterceptorList = new InterceptorList(await interceptorsFor(options), {
    toBrowser: (command) => browser.receives(structuredClone(command)),
    toClient: (message) => client.gets(message),
  });
  const hasTabs = options.client === 'puppeteer';
  const browser = new ModelBrowser((message) => queue.push(structuredClone(message)), hasTabs);
  const client = new Client(directory, (command) => list.command(command));
  const arrive = () => {
    for (const message of queue.splice(0)) list.message(message);
  };
  const answerAll = () => {
    for (let most = 1_000; !browser.isIdle && most > 0; most -= 1) browser.answer(0);
    arrive();
  };
  const moves: Record<Step[0], (number: number) => void> = {
    page: (number) => client.asks(number, true),
    browser: (number) => client.asks(number, false),
    answer: (number) => browser.answer(number),
    all: answerAll,
    event: (number) => browser.event(number),
    navigate: (number) => browser.navigate(number),
    'navigate late': (number) => browser.navigate(number, true),
    crash: (number) => browser.crash(number),
    close: (number) => browser.close(number, number % 2 > 0),
    open: () => browser.open('own'),
    turn: () => undefined,
  };
  client.asks(0, false);
  for (const [kind, number] of steps) {
    moves[kind](number);
    if (kind === 'turn') await turn();
    // Some responses arrive only after the client's next command.
    if (number % 3 > 0) arrive();
  }
  const until = Date.now() + SETTLED_MS;
  // Some wait for files and sockets of this machine.
  for (let idle = 0; idle < 3 || (client.account.unanswered.length > 0 && Date.now() < until); idle += 1) {
    answerAll();
    await turn();
  }
  list.end();
  await turn();
  return [...client.account.faults, ...client.account.unanswered];
}

for (const [name, options] of Object.entries(LISTS)) {
  test(`gives each command one response in random concurrent exchanges: ${name}`, async () => {
    test.setTimeout(60_000 + RUNS.numRuns * 200);
    const directory = await mkdtemp(join(tmpdir(), 'poolwright-answers-'));
    await writeFile(join(directory, 'file'), 'text');
    const raised: unknown[] = [];
    const note = (error: unknown) => raised.push(error);
    process.on('unhandledRejection', note).on('uncaughtException', note);
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
          deepEqual(await faultsOf(options(), steps, directory), []);
          deepEqual(raised.splice(0), []);
        }),
        { ...RUNS, endOnFailure: process.env.POOLWRIGHT_SHRINK === undefined },
      );
    } finally {
      process.off('unhandledRejection', note).off('uncaughtException', note);
      await rm(directory, { recursive: true });
    }
  });
}

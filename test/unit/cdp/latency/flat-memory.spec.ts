import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@playwright/test';
import { Meter, Savings } from '../../../../src/cdp/figures.ts';
import { type CdpMessage, fieldsOf } from '../../../../src/cdp/message.ts';
import { interceptorsFor } from '../../../../src/cdp/pipeline.ts';
import { InterceptorList } from '../../../../src/cdp/transport/interceptor-list.ts';
import { ModelBrowser } from '../../../models/cdp/model-browser.ts';
import { fullLength } from '../../../support/property-runs.ts';

/** One connection with all interceptors keeps nothing of earlier tests. */

/** Tests between two measurements of the heap. */
const TESTS = fullLength(150, 50);
const NAVIGATIONS = 10;
/** The most bytes that these tests may add: about 0.1 kB a navigation, or 0.4 kB. */
const MOST_LEFT = 200_000;

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

const turn = () => new Promise((resolve) => setImmediate(resolve));

class Connection {
  readonly told: CdpMessage[] = [];
  readonly browser: ModelBrowser;
  readonly #list: InterceptorList;
  readonly #queue: CdpMessage[] = [];
  #id = 0;

  constructor(interceptors: Awaited<ReturnType<typeof interceptorsFor>>) {
    this.browser = new ModelBrowser((message) => this.#queue.push(structuredClone(message)));
    this.#list = new InterceptorList(interceptors, {
      toBrowser: (command) => this.browser.receives(structuredClone(command)),
      toClient: (message) => this.told.push(message),
    });
  }

  /** Sends a command, and returns its result once nothing is pending. */
  async ask(method: string, params: object = {}, sessionId?: string): Promise<unknown> {
    const id = ++this.#id;
    this.#list.command({ id, method, params, ...(sessionId !== undefined && { sessionId }) });
    await this.settle();
    return this.told.find((message) => message.id === id)?.result;
  }

  async settle(): Promise<void> {
    for (let round = 0; round < 4; round += 1) {
      while (!this.browser.isIdle) this.browser.answer(0);
      for (const message of this.#queue.splice(0)) this.#list.message(message);
      await turn();
    }
  }

  end(): void {
    this.#list.end();
  }
}

async function oneTest(connection: Connection): Promise<void> {
  const { told, browser } = connection;
  told.length = 0;
  const context = { ...fieldsOf(await connection.ask('Target.createBrowserContext', { disposeOnDetach: true })) };
  await connection.ask('Browser.setDownloadBehavior', {
    behavior: 'allowAndName',
    downloadPath: '/nowhere',
    ...context,
  });
  await connection.ask('Target.createTarget', { url: 'about:blank', ...context });
  const attached = told.find(({ method }) => method === 'Target.attachedToTarget');
  const sessionId = String(fieldsOf<{ sessionId: string }>(attached?.params).sessionId);
  await connection.ask('Page.addScriptToEvaluateOnNewDocument', { source: '', worldName: 'client world' }, sessionId);
  for (let number = 0; number < NAVIGATIONS; number += 1) {
    browser.navigate(0);
    await connection.settle();
    const made = told.findLast(({ method }) => method === 'Runtime.executionContextCreated');
    const { id: contextId } = fieldsOf<{ id: number }>(fieldsOf<{ context: object }>(made?.params).context);
    const expression = '\n(() => { return "script"; })();\n';
    const { result } = fieldsOf<{ result: object }>(
      await connection.ask('Runtime.evaluate', { expression, contextId }, sessionId),
    );
    const { objectId } = fieldsOf<{ objectId: string }>(result);
    const call = { objectId, functionDeclaration: 'f', arguments: [{ value: '(r) => r.element' }] };
    await connection.ask('Runtime.callFunctionOn', call, sessionId);
  }
  await connection.ask('Target.disposeBrowserContext', context);
}

function heapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

test('the heap stays flat over hundreds of tests', async () => {
  const savings = new Savings(0);
  savings.measured(100);
  const options = {
    ahead: true,
    sharesBrowser: true,
    savings,
    auto: { onVisit: () => undefined },
    meter: new Meter(),
  };
  const connection = new Connection(await interceptorsFor(options));
  await connection.ask('Browser.getVersion');
  const sizes: number[] = [];
  for (let count = 0; count < 4; count += 1) {
    for (let number = 0; number < TESTS; number += 1) await oneTest(connection);
    connection.told.length = 0;
    sizes.push(heapBytes());
  }
  // The engine's own memory varies by up to 500 kB; a leak adds to every measurement.
  const added = sizes.slice(1).map((size, index) => size - (sizes[index] ?? 0));
  expect(Math.min(...added), `bytes added: ${added}`).toBeLessThan(MOST_LEFT);
  expect(savings.savedMs).toBeGreaterThan(0);
  connection.end();
});

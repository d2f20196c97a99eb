import { deepEqual } from 'node:assert/strict';
import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import { Savings } from '../../../../src/cdp/figures.ts';
import { PipelinedScripts } from '../../../../src/cdp/latency/scripts/pipelined-scripts.ts';
import { type CdpMessage, fieldsOf } from '../../../../src/cdp/message.ts';
import { InterceptorList } from '../../../../src/cdp/transport/interceptor-list.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

/** The client gets the objects that it asked for, whatever was predicted, and no command reaches another object. */

const SESSION = 'S';
const WORLD = 'client world';
/** The client's scripts and their results; one has a number that differs between documents. */
const SCRIPTS = [
  (number: number) => [`\n(() => {\n return 'script ' + ({"number":${number}}).number;\n})();\n`, `script ${number}`],
  () => [`\n(() => {\n return 'the other script';\n})();\n`, 'the other script'],
] as const;
/** A document's `globalThis`, as seen by stored scripts. */
type Global = Record<symbol, unknown>;

const turn = () => new Promise((resolve) => setImmediate(resolve));

interface Navigation {
  isElsewhere: boolean;
  isOld: boolean;
  isScripted: boolean | 'in part';
}

/** A browser with one page, reduced to JavaScript contexts and their objects. Evaluates real JavaScript. */
class Browser {
  #isolate = 1;
  #contextId = 0;
  #contexts = new Map<number, { isolate: number; global: Global; objects: Map<number, unknown> }>();
  #kept = new Map<string, string>();
  readonly #tell: (message: CdpMessage) => void;

  constructor(tell: (message: CdpMessage) => void) {
    this.#tell = tell;
  }

  begin(): void {
    const targetInfo = { targetId: 'T', type: 'page' };
    this.#tell({ method: 'Target.attachedToTarget', params: { sessionId: SESSION, targetInfo } });
    this.#addContext('');
  }

  /**
   * @param isOld whether the other process has had documents before
   * @param isScripted whether scripts for new documents run; `'in part'`: only the newest
   */
  navigate({ isElsewhere, isScripted, isOld }: Navigation): void {
    this.#contexts.clear();
    this.#event('Runtime.executionContextsCleared', {});
    if (isElsewhere) {
      this.#isolate += 1;
      this.#contextId = isOld ? this.#contextId + 10 : 0;
    }
    this.#event('Page.frameNavigated', { frame: { id: 'T' } });
    this.#addContext('');
    const global = this.#addContext(WORLD);
    const run = isScripted ? [...this.#kept.values()].slice(isScripted === 'in part' ? -1 : 0) : [];
    for (const source of run) evaluate(source, global);
  }

  command({ id, method, params, sessionId }: CdpMessage): void {
    const answer = this.#answer(method, fieldsOf<Record<string, unknown>>(params));
    this.#tell(
      typeof answer === 'string' ? { id, sessionId, error: { message: answer } } : { id, sessionId, ...answer },
    );
  }

  #answer(method: string | undefined, params: Record<string, unknown>): { result: unknown } | string {
    if (method === 'Page.addScriptToEvaluateOnNewDocument') {
      const identifier = String(this.#kept.size);
      this.#kept.set(identifier, String(params.source));
      return { result: { identifier } };
    }
    if (method === 'Page.createIsolatedWorld') {
      this.#addContext(WORLD);
      return { result: {} };
    }
    if (method === 'Runtime.evaluate') {
      const context = this.#contexts.get(Number(params.contextId));
      if (!context) return 'Cannot find context with specified id';
      const value = evaluate(String(params.expression), context.global);
      const isObject = typeof value === 'object' || typeof value === 'string';
      return { result: { result: isObject ? this.#object(Number(params.contextId), value) : { type: typeof value } } };
    }
    if (method === 'DOM.resolveNode') {
      const contextId = Number(params.executionContextId);
      if (!this.#contexts.has(contextId)) return 'Cannot find context with specified id';
      return { result: { object: this.#object(contextId, 'node') } };
    }
    if (method === 'Runtime.callFunctionOn') {
      const values = [params, ...(params.arguments as object[])].map((one) => this.#valueOf(one));
      if (values.includes(undefined)) return 'Could not find object with given id';
      return { result: { result: { type: 'string', value: values.join(', ') } } };
    }
    if (method === 'Runtime.releaseObject') {
      const [, contextId, number] = String(params.objectId).split('.').map(Number);
      this.#contexts.get(contextId ?? 0)?.objects.set(number ?? 0, undefined);
    }
    return { result: {} };
  }

  #valueOf(of: object): unknown {
    const [isolate, contextId, number] = String(fieldsOf<{ objectId: string }>(of).objectId).split('.').map(Number);
    const context = this.#contexts.get(contextId ?? 0);
    return context?.isolate === isolate ? context?.objects.get(number ?? 0) : undefined;
  }

  #object(contextId: number, value: unknown): object {
    const context = this.#contexts.get(contextId);
    const number = (context?.objects.size ?? 0) + 1;
    context?.objects.set(number, value);
    return { type: 'object', className: 'Made', objectId: `${context?.isolate}.${contextId}.${number}` };
  }

  #addContext(name: string): Global {
    const id = ++this.#contextId;
    const global: Global = {};
    this.#contexts.set(id, { isolate: this.#isolate, global, objects: new Map() });
    const auxData = { isDefault: name === '', frameId: 'T' };
    this.#event('Runtime.executionContextCreated', { context: { id, name, auxData } });
    return global;
  }

  #event(method: string, params: object): void {
    this.#tell({ method, params, sessionId: SESSION });
  }
}

function evaluate(expression: string, global: Global): unknown {
  if (expression === '') return undefined;
  return new Function('globalThis', `return (${expression.replace(/;\s*$/, '')}\n)`)(global);
}

/** A client that evaluates its scripts in a world when it needs them, and then calls functions on their objects. */
class Client {
  readonly failures: string[] = [];
  calls = 0;
  #id = 0;
  #documents = 0;
  #world: { contextId: number; number: number; ids: Map<string, string> } | null = null;
  readonly #waiting = new Map<number, (message: CdpMessage) => void>();
  readonly #send: (message: CdpMessage) => void;

  constructor(send: (message: CdpMessage) => void) {
    this.#send = send;
  }

  onMessage(message: CdpMessage): void {
    const { id, method, params } = message;
    if (id !== undefined) {
      const resolve = this.#waiting.get(id);
      if (!resolve) this.failures.push(`${id} was not asked for, or twice`);
      this.#waiting.delete(id);
      resolve?.(message);
    }
    if (method === 'Runtime.executionContextsCleared') this.#world = null;
    if (method !== 'Runtime.executionContextCreated') return;
    const { context } = params as { context: { id: number; name: string } };
    if (context.name === WORLD) this.#world = { contextId: context.id, number: ++this.#documents, ids: new Map() };
  }

  begin(): void {
    this.want();
    this.#post('Page.createIsolatedWorld', { worldName: WORLD });
  }

  /** Creates a world in all later documents. */
  want(): void {
    this.#post('Page.addScriptToEvaluateOnNewDocument', { source: '', worldName: WORLD });
  }

  /** Asks for an object, or uses the one it has. @param number of the script; 2 for a node */
  ask(number: number): void {
    const world = this.#world;
    if (!world) return;
    const { contextId } = world;
    const [expression, name = 'node'] = SCRIPTS[number]?.(world.number) ?? [];
    if (expression !== undefined && world.ids.has(name)) return;
    const got = ({ result }: CdpMessage) => {
      const { result: one, object } = fieldsOf<{ result: object; object: object }>(result);
      const { objectId } = fieldsOf<{ objectId: string }>(one ?? object);
      if (typeof objectId === 'string') world.ids.set(name, objectId);
      else if (this.#world === world) this.failures.push(`no ${name}: ${JSON.stringify(result)}`);
    };
    if (expression !== undefined) this.#post('Runtime.evaluate', { expression, contextId }, got);
    else this.#post('DOM.resolveNode', { executionContextId: contextId }, got);
  }

  /** Calls a function on one of its objects, with the others as arguments. */
  call(first: number): void {
    const world = this.#world;
    if (!world || world.ids.size === 0) return;
    const all = [...world.ids];
    const ordered = [...all.slice(first % all.length), ...all.slice(0, first % all.length)];
    const [[, objectId] = ['', '']] = ordered;
    const args = ordered.slice(1).map(([, id]) => ({ objectId: id }));
    this.#post('Runtime.callFunctionOn', { objectId, arguments: args }, (message) => {
      this.calls += 1;
      const { value } = fieldsOf<{ value: string }>(fieldsOf<{ result: object }>(message.result).result);
      const expected = ordered.map(([name]) => name).join(', ');
      // For a document that is gone, the browser may report that.
      if (value !== expected && !(message.error && this.#world !== world)) {
        this.failures.push(`${expected}: ${JSON.stringify(message)}`);
      }
    });
  }

  get unanswered(): number {
    return this.#waiting.size;
  }

  #post(method: string, params: object, then: (message: CdpMessage) => void = () => undefined): void {
    const id = ++this.#id;
    this.#waiting.set(id, then);
    this.#send({ id, method, params, sessionId: SESSION });
  }
}

type Step = readonly [kind: string, number: number];

async function run(steps: readonly Step[]) {
  const savings = new Savings(0);
  savings.measured(100);
  const commands: CdpMessage[] = [];
  const messages: CdpMessage[] = [];
  const told: CdpMessage[] = [];
  const list = new InterceptorList([(link) => new PipelinedScripts(link, savings)], {
    toBrowser: (command) => commands.push(command),
    toClient: (message) => told.push(message),
  });
  const browser = new Browser((message) => messages.push(structuredClone(message)));
  const client = new Client((command) => list.command(command));
  const moves: Record<string, (number: number) => void> = {
    ask: (number) => client.ask(number % 3),
    call: (number) => client.call(number),
    // The browser takes this many commands, or this many of its messages arrive.
    take: (number) => {
      for (const command of commands.splice(0, number)) browser.command(command);
    },
    arrive: (number) => {
      for (const message of messages.splice(0, number)) list.message(message);
    },
    navigate: (number) => {
      browser.navigate({
        isElsewhere: (number & 1) > 0,
        isScripted: (number & 2) > 0 && ((number & 8) > 0 ? 'in part' : true),
        isOld: (number & 4) > 0,
      });
    },
    begin: () => client.begin(),
    want: () => client.want(),
  };
  const hear = async () => {
    await turn();
    while (told.length > 0) {
      const message = told.shift();
      if (message) client.onMessage(message);
    }
    await turn();
  };
  browser.begin();
  for (const [kind, number] of [...LEARN, ...steps]) {
    moves[kind]?.(number);
    await hear();
  }
  for (let round = 0; round < 20; round += 1) {
    moves.take?.(1_000);
    moves.arrive?.(1_000);
    await hear();
  }
  return { failures: client.failures, calls: client.calls, unanswered: client.unanswered, savedMs: savings.savedMs };
}

const everything = (kind: string): Step => [kind, 1_000];
const exchange: Step[] = [everything('take'), everything('arrive')];
/** Two documents that teach the client's scripts. */
const LEARN: Step[] = [
  everything('arrive'),
  ['begin', 0],
  ...exchange,
  ['navigate', 2],
  ...exchange,
  ['ask', 0],
  ['ask', 1],
  ...exchange,
  ['call', 0],
  ...exchange,
  ['navigate', 2],
  ...exchange,
  ['ask', 0],
  ...exchange,
  // From here on, they are stored in the browser.
  ['want', 0],
  ...exchange,
];

test("resolves each call to the client's objects, which are predicted, different or late", async () => {
  const open: Step[] = [
    ['ask', 0],
    ['ask', 1],
    ['call', 0],
    ['ask', 2],
    ['call', 1],
    ['take', 3],
    ['arrive', 3],
    ['call', 2],
    ...exchange,
    ['call', 0],
  ];
  for (const [name, navigation] of Object.entries({
    same: 2,
    elsewhere: 3,
    'another process that is not new': 7,
    'something kept is not run': 10,
    'nothing kept is run': 0,
    'elsewhere, and nothing kept is run': 1,
  })) {
    const { failures, unanswered, calls } = await run([['navigate', navigation], everything('arrive'), ...open]);
    expect({ name, failures, unanswered }).toEqual({ name, failures: [], unanswered: 0 });
    // Predicted objects, some used while they were still pending.
    expect(calls).toBeGreaterThanOrEqual(name.startsWith('elsewhere') ? 2 : 4);
  }
});

test('handles a command for an earlier document that arrives in one of another process', async () => {
  const arrived = everything('arrive');
  const elsewhere: Step = ['navigate', 3];
  const late: Step[] = [elsewhere, arrived, ['ask', 0], elsewhere, everything('take')];
  const { failures, unanswered } = await run([...late, arrived, ['ask', 0], ['ask', 1], ['call', 0], ['call', 1]]);
  expect({ failures, unanswered }).toEqual({ failures: [], unanswered: 0 });
});

test('handles random documents, processes and delays', async () => {
  const step = fc.tuple(
    fc.constantFrom('ask', 'ask', 'call', 'call', 'take', 'take', 'arrive', 'arrive', 'navigate', 'begin'),
    fc.nat({ max: 15 }),
  );
  let saved = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { failures, unanswered, savedMs } = await run(steps);
      saved += savedMs;
      deepEqual({ failures, unanswered }, { failures: [], unanswered: 0 });
    }),
    propertyRuns(2_000),
  );
  expect(saved).toBeGreaterThan(0);
});

import { Savings } from '../../../../src/cdp/figures.ts';
import { type CdpMessage, fieldsOf } from '../../../../src/cdp/message.ts';
import type { Interceptor, InterceptorTransport } from '../../../../src/cdp/transport/interceptor.ts';
import { InterceptorList } from '../../../../src/cdp/transport/interceptor-list.ts';

const SESSION = 'session';
/** The page's own world, and the client's. */
export const MAIN = 1;
export const UTILITY = 2;

/** What a test looks for; the last one embeds a document. */
export const SELECTORS = ['#one', '#two', '#frame'];
const FRAME = SELECTORS.length;

/** The node that a query finds, by the selector in its arguments. */
function nodeIn(params: unknown): number {
  const text = JSON.stringify(params ?? {});
  return SELECTORS.findIndex((selector) => text.includes(`"${selector}"`)) + 1;
}

/** The part of a command that decides what it results in. */
interface Params {
  objectId: string;
  executionContextId: number;
  contextId: number;
  backendNodeId: number;
  returnByValue: boolean;
  worldName: string;
}

/** What a client gets: what the browser has created, and the moment at which it was evaluated. */
interface Response {
  result: { objectId: string };
  object: { objectId: string };
  node: { backendNodeId: number };
  moment: number;
}

/**
 * A page whose every value changes at every moment, behind interceptors: commands are evaluated, and responses arrive,
 * only when the test wants it. Whatever happens takes a moment, so that moments show the order of all that happens.
 */
export class ChangingPage {
  /** Answers that were evaluated before the client had sent the first command of their call. */
  readonly stale: string[] = [];
  readonly savings = new Savings(0, () => this.#moment);
  readonly #list: InterceptorList;
  readonly #toBrowser: CdpMessage[] = [];
  readonly #toClient: CdpMessage[] = [];
  readonly #waiting = new Map<number, (message: CdpMessage) => void>();
  /** The number of objects in each world, and the nodes that they stand for. */
  readonly #objects = new Map<number, number>();
  readonly #nodes = new Map<string, number>();
  #moment = 0;
  #lastId = 0;

  constructor(creates: readonly ((transport: InterceptorTransport, savings: Savings) => Interceptor)[]) {
    this.savings.measured(100);
    this.#list = new InterceptorList(
      creates.map((create) => (transport) => create(transport, this.savings)),
      {
        toBrowser: (command) => this.#toBrowser.push(command),
        toClient: (message) => {
          this.savings.delivered();
          this.#waiting.get(message.id ?? 0)?.(message);
        },
      },
    );
  }

  /** The page opens, with both worlds; the client gives its world the name that it is recognized by. */
  open(worldName: string): void {
    const targetInfo = { targetId: 'page', type: 'page', url: 'about:blank', browserContextId: 'context' };
    this.#list.message({ method: 'Target.attachedToTarget', params: { sessionId: SESSION, targetInfo } });
    void new Call(this).send('Page.createIsolatedWorld', { worldName, frameId: 'page' });
    for (const [id, name] of [
      [MAIN, ''],
      [UTILITY, worldName],
    ] as const) {
      const auxData = { isDefault: id === MAIN, frameId: 'page' };
      const context = { id, uniqueId: `world ${id}`, name, origin: '://', auxData };
      this.#list.message({
        method: 'Runtime.executionContextCreated',
        sessionId: SESSION,
        params: { context },
      });
    }
  }

  /** A moment passes. */
  pass(): number {
    return ++this.#moment;
  }

  /** The browser evaluates the oldest command. */
  evaluate(): void {
    const command = this.#toBrowser.shift();
    if (!command) return;
    const { id, sessionId } = command;
    this.#toClient.push({ id, sessionId, ...this.#responseTo(command, this.pass()) });
  }

  /** The oldest response arrives. */
  arrive(): void {
    const message = this.#toClient.shift();
    if (message) this.#list.message(message);
  }

  send(method: string, params: object): Promise<CdpMessage> {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#list.command({ id, method, params, sessionId: SESSION });
    });
  }

  #responseTo({ method = '', params }: CdpMessage, moment: number): Omit<CdpMessage, 'id'> {
    const { objectId, executionContextId, contextId = executionContextId, ...fields } = fieldsOf<Params>(params);
    const used = JSON.stringify(params ?? {}).matchAll(/"objectId":"([^"]*)"/g);
    for (const [, name = ''] of used) {
      const [, world, number] = name.split('.').map(Number);
      if (!(Number(number) <= (this.#objects.get(Number(world)) ?? 0))) {
        return { error: { code: -32_000, message: 'Could not find object with given id' } };
      }
    }
    const world = typeof contextId === 'number' ? contextId : Number(String(objectId).split('.')[1]);
    if (method === 'DOM.describeNode') {
      const backendNodeId = this.#nodes.get(String(objectId)) ?? 0;
      // Which node an object is never changes; which document an element embeds does.
      if (backendNodeId !== FRAME) return { result: { node: { backendNodeId, localName: 'b' } } };
      return { result: { node: { backendNodeId, localName: 'iframe', frameId: `frame ${moment}` }, moment } };
    }
    if (method === 'DOM.resolveNode') {
      return { result: { object: { objectId: this.#create(world, Number(fields.backendNodeId)) } } };
    }
    if (/^Runtime\.(?:evaluate|callFunctionOn)$/.test(method) && fields.returnByValue !== true) {
      const objectId = this.#create(world, nodeIn(params));
      return { result: { result: { objectId, subtype: 'node' }, moment } };
    }
    return { result: { result: { value: moment }, moment } };
  }

  #create(world: number, node: number): string {
    const number = (this.#objects.get(world) ?? 0) + 1;
    this.#objects.set(world, number);
    const objectId = `7.${world}.${number}`;
    this.#nodes.set(objectId, node);
    return objectId;
  }
}

/** A call of a test: it knows when it began, and when each of its answers was evaluated. */
export class Call {
  readonly #page: ChangingPage;
  #began: number | undefined;

  constructor(page: ChangingPage) {
    this.#page = page;
  }

  async send(method: string, params: object): Promise<Partial<Response>> {
    const now = this.#page.pass();
    this.#began ??= now;
    const message = await this.#page.send(method, params);
    const result = fieldsOf<Response>(message.result) as Partial<Response>;
    // A response without a moment was not evaluated: objects are released without waiting.
    if (message.error) throw new Error(message.error.message);
    if (result.moment !== undefined && result.moment < this.#began) {
      this.#page.stale.push(`${method} ${JSON.stringify(params)}`);
    }
    return result;
  }

  /** Evaluates a function in the page. Returns the object that it results in. */
  async object(functionDeclaration: string, where: object, ...args: object[]): Promise<string> {
    const { result } = await this.#function(functionDeclaration, where, args, false);
    return result?.objectId ?? '';
  }

  /** The same for plain data. */
  async value(functionDeclaration: string, where: object, ...args: object[]): Promise<void> {
    await this.#function(functionDeclaration, where, args, true);
  }

  /** Returns an object for the same node in another world. */
  async move(objectId: string, executionContextId: number): Promise<string> {
    const { node } = await this.send('DOM.describeNode', { objectId });
    const { object } = await this.send('DOM.resolveNode', {
      backendNodeId: node?.backendNodeId,
      executionContextId,
    });
    return object?.objectId ?? '';
  }

  #function(functionDeclaration: string, where: object, args: object[], returnByValue: boolean) {
    const params = { functionDeclaration, ...where, arguments: args, returnByValue, awaitPromise: true };
    return this.send('Runtime.callFunctionOn', params);
  }
}

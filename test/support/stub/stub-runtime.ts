import * as v from 'valibot';
import { CdpError, type Params, type Result } from './protocol.ts';
import type { StubDocument } from './stub-document.ts';
import type { CommandTarget, StubSession } from './stub-session.ts';
import { StubWorld } from './stub-world.ts';

const integer = v.pipe(v.number(), v.safeInteger());

const evaluate = v.object({
  expression: v.string(),
  contextId: v.optional(integer),
  returnByValue: v.optional(v.boolean(), false),
  awaitPromise: v.optional(v.boolean(), false),
});
const callFunction = v.object({
  functionDeclaration: v.string(),
  objectId: v.optional(v.string()),
  executionContextId: v.optional(integer),
  arguments: v.optional(
    v.array(
      v.object({
        value: v.optional(v.unknown()),
        objectId: v.optional(v.string()),
        unserializableValue: v.optional(v.string()),
      }),
    ),
    [],
  ),
  returnByValue: v.optional(v.boolean(), false),
  awaitPromise: v.optional(v.boolean(), false),
});
const ofObject = v.object({ objectId: v.string() });

export interface RuntimeContext {
  frameId: string;
  userAgent: string;
  /** Those that have a session with the page now. */
  sessions: () => StubSession[];
  onDocumentClosed: () => void;
}

/** The `Runtime` domain of a page: its worlds, created with each document. */
export class StubRuntime implements CommandTarget {
  readonly #context: RuntimeContext;
  readonly #worlds = new Map<number, StubWorld>();
  readonly #scripts: { source: string; world: string }[] = [];
  readonly #bindings = new Set<string>();
  #document: StubDocument;
  #lastWorld = 0;

  constructor(context: RuntimeContext, document: StubDocument) {
    this.#context = context;
    this.#document = document;
    this.#add('');
  }

  /** A new document: new worlds. */
  reset(document: StubDocument): void {
    this.#document = document;
    const names = new Set(['', ...this.#scripts.map(({ world }) => world)]);
    this.#worlds.clear();
    this.#emit('Runtime.executionContextsCleared', {});
    for (const name of names) this.#add(name);
  }

  /** The world of that name; made if there is none. */
  isolatedWorld(name: string): StubWorld {
    return [...this.#worlds.values()].find((world) => world.name === name) ?? this.#add(name);
  }

  /** Adds a script for all later documents; returns its number. */
  addScript(source: string, world: string): number {
    return this.#scripts.push({ source, world });
  }

  handle(method: string, params: Params, session: StubSession) {
    return this.#handlers[method]?.(params, session);
  }

  readonly #handlers: Record<string, (params: Params, session: StubSession) => Result | Promise<Result>> = {
    'Runtime.enable': (_params, session) => {
      session.enabled.add('Runtime');
      for (const { description } of this.#worlds.values()) {
        session.emit('Runtime.executionContextCreated', { context: description });
      }
      return {};
    },
    'Runtime.addBinding': ({ name }) => {
      this.#bindings.add(String(name));
      for (const world of this.#worlds.values()) world.bind(String(name));
      return {};
    },
    'Runtime.evaluate': (params) => {
      const { expression, contextId, ...how } = v.parse(evaluate, params);
      const world = this.#world(contextId);
      return evaluated(world, how, () => world.run(expression));
    },
    'Runtime.callFunctionOn': (params) => {
      const {
        functionDeclaration,
        objectId,
        executionContextId,
        arguments: args,
        ...how
      } = v.parse(callFunction, params);
      const world = objectId === undefined ? this.#world(executionContextId) : this.#worldOf(objectId);
      return evaluated(world, how, () => {
        const values = args.map((arg) => {
          if (arg.objectId !== undefined) return this.#worldOf(arg.objectId).kept(arg.objectId);
          return arg.unserializableValue === undefined ? arg.value : world.run(arg.unserializableValue);
        });
        return world.call(functionDeclaration, objectId === undefined ? undefined : world.kept(objectId), values);
      });
    },
    'Runtime.getProperties': (params) => {
      const { objectId } = v.parse(ofObject, params);
      const world = this.#worldOf(objectId);
      const properties = Object.getOwnPropertyDescriptors(Object(world.kept(objectId)));
      const result = Object.entries(properties).map(([name, { value, enumerable }]) => {
        return { name, enumerable, configurable: true, isOwn: true, value: remoteObject(value, false, world) };
      });
      return { result };
    },
    'Runtime.releaseObject': (params) => {
      const { objectId } = v.parse(ofObject, params);
      this.#worlds.get(Number.parseInt(objectId, 10))?.release(objectId);
      return {};
    },
  };

  #add(name: string): StubWorld {
    const id = ++this.#lastWorld;
    const { frameId, onDocumentClosed, userAgent } = this.#context;
    const world = new StubWorld({
      id,
      name,
      frameId,
      document: this.#document,
      userAgent,
      scripts: () => this.#scripts.filter((script) => script.world === name).map(({ source }) => source),
      bindings: () => [...this.#bindings],
      onConsole: (type, args) => {
        const remote = args.map((arg) => remoteObject(arg, false, world));
        this.#emit('Runtime.consoleAPICalled', { type, args: remote, executionContextId: id, timestamp: Date.now() });
      },
      onBinding: (binding, payload) => {
        this.#emit('Runtime.bindingCalled', { name: binding, payload: String(payload), executionContextId: id });
      },
      onDocumentClosed,
    });
    this.#worlds.set(id, world);
    this.#emit('Runtime.executionContextCreated', { context: world.description });
    return world;
  }

  #emit(method: string, params: object): void {
    for (const session of this.#context.sessions()) if (session.enabled.has('Runtime')) session.emit(method, params);
  }

  #world(id: number | undefined): StubWorld {
    const world = id === undefined ? this.isolatedWorld('') : this.#worlds.get(id);
    if (!world) throw new CdpError('Cannot find context with specified id');
    return world;
  }

  #worldOf(objectId: string): StubWorld {
    return this.#world(Number.parseInt(objectId, 10));
  }
}

async function evaluated(
  world: StubWorld,
  { returnByValue, awaitPromise }: { returnByValue: boolean; awaitPromise: boolean },
  work: () => unknown,
): Promise<Result> {
  try {
    const value = work();
    return { result: remoteObject(awaitPromise ? await value : value, returnByValue, world) };
  } catch (thrown) {
    const exception = remoteObject(thrown, false, world);
    return { result: exception, exceptionDetails: { ...UNCAUGHT, exception } };
  }
}

/** A value as CDP's `Runtime.RemoteObject`. */
function remoteObject(value: unknown, byValue: boolean, world: StubWorld): object {
  const type = value === null ? 'object' : typeof value;
  if (value === undefined) return { type };
  if (value === null) return { type, subtype: 'null', value };
  if (typeof value === 'bigint') return unserializable(type, `${value}n`);
  if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0))) {
    return unserializable(type, Object.is(value, -0) ? '-0' : String(value));
  }
  if (typeof value !== 'object' && typeof value !== 'function' && typeof value !== 'symbol') return { type, value };
  if (byValue) return { type, value: typeof value === 'object' ? value : {} };
  const description = describe(value);
  return { type, subtype: subtypeOf(value), className: className(value), description, objectId: world.keep(value) };
}

/** CDP's `Runtime.ExceptionDetails`, without the exception. */
const UNCAUGHT = { exceptionId: 1, text: 'Uncaught', lineNumber: 0, columnNumber: 0 };

function unserializable(type: string, text: string): object {
  return { type, unserializableValue: text, description: text };
}

/** Errors of other worlds are not instances of this world's classes. */
function isError(value: unknown): value is Error {
  return Object.prototype.toString.call(value) === '[object Error]';
}

function subtypeOf(value: unknown): string | undefined {
  if (Array.isArray(value)) return 'array';
  if (isError(value)) return 'error';
  return Object.prototype.toString.call(value) === '[object Promise]' ? 'promise' : undefined;
}

function className(value: object | symbol | ((...args: never) => unknown)): string {
  return typeof value === 'symbol' ? 'Symbol' : (value.constructor?.name ?? 'Object');
}

/** Name, message and stack. Node puts the line of the script before them. */
function errorText({ name, message, stack = '' }: Error): string {
  const text = message === '' ? name : `${name}: ${message}`;
  return stack.includes(text) ? stack.slice(stack.indexOf(text)) : text;
}

function describe(value: object | symbol | ((...args: never) => unknown)): string {
  if (Array.isArray(value)) return `Array(${value.length})`;
  if (isError(value)) return errorText(value);
  return typeof value === 'object' ? className(value) : String(value);
}

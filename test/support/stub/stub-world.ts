import { randomUUID } from 'node:crypto';
import { createContext, runInContext } from 'node:vm';
import type { StubDocument } from './stub-document.ts';

export interface WorldSettings {
  id: number;
  /** Empty for the page's own world. */
  name: string;
  frameId: string;
  document: StubDocument;
  userAgent: string;
  /** Scripts that run before any other. */
  scripts: () => readonly string[];
  /** Names of functions that notify the client. */
  bindings: () => readonly string[];
  onConsole: (type: string, args: unknown[]) => void;
  onBinding: (name: string, payload: unknown) => void;
  /** `document.close()`: the page has loaded once more. */
  onDocumentClosed: () => void;
}

/** A script that does not come to an end would stop every stub of this process. */
const SCRIPT_TIMEOUT_MS = 2_000;
const FRAME_MS = 16;
const CALL = '__stub_call';
const CONSOLE = ['debug', 'log', 'info', 'warn', 'error'] as const;

/**
 * A JavaScript world of a page: V8's, with a document that has a title. Made when the first script comes: most pages of
 * a stub never run one. `node:vm` separates worlds but is not a sandbox; what runs here comes from tests, and a
 * promise that it leaves rejected is this process's.
 */
export class StubWorld {
  readonly id: number;
  readonly name: string;
  readonly #settings: WorldSettings;
  readonly #objects = new Map<string, unknown>();
  #global: object | undefined;
  #lastObject = 0;

  constructor(settings: WorldSettings) {
    this.#settings = settings;
    this.id = settings.id;
    this.name = settings.name;
  }

  /** As `Runtime.executionContextCreated` has it. */
  get description(): object {
    const { document, frameId, id, name } = this.#settings;
    const isDefault = name === '';
    const auxData = { isDefault, type: isDefault ? 'default' : 'isolated', frameId };
    return { id, origin: document.url, name, uniqueId: randomUUID(), auxData };
  }

  run(source: string): unknown {
    this.#global ??= this.#create();
    return runInContext(source, this.#global, { timeout: SCRIPT_TIMEOUT_MS });
  }

  /** Calls a function of this world, given as source. */
  call(source: string, self: unknown, args: unknown[]): unknown {
    const called = this.run(`(${source})`) as (...args: unknown[]) => unknown;
    // By way of a script, for its time limit.
    Object.defineProperty(this.#global, CALL, { value: () => called.apply(self, args), configurable: true });
    return this.run(`globalThis[${JSON.stringify(CALL)}]()`);
  }

  /** Adds a function that sends its arguments to the client. */
  bind(name: string): void {
    const call = (payload: unknown) => this.#settings.onBinding(name, payload);
    if (this.#global) Object.assign(this.#global, { [name]: call });
  }

  /** Keeps a value for the client; returns its name. */
  keep(value: unknown): string {
    const objectId = `${this.id}.${++this.#lastObject}`;
    this.#objects.set(objectId, value);
    return objectId;
  }

  kept(objectId: string): unknown {
    return this.#objects.get(objectId);
  }

  release(objectId: string): void {
    this.#objects.delete(objectId);
  }

  #create(): object {
    const { bindings, document, onConsole, onDocumentClosed, scripts, userAgent } = this.#settings;
    const global: Record<string, unknown> = {
      console: Object.fromEntries(CONSOLE.map((type) => [type, (...args: unknown[]) => onConsole(type, args)])),
      document: documentFace(document, onDocumentClosed),
      location: { href: document.url, toString: () => document.url },
      navigator: { userAgent },
      setTimeout: (callback: () => void, ms: number) => Number(setTimeout(guarded(callback), ms).unref()),
      clearTimeout,
      requestAnimationFrame: (callback: (now: number) => void) => {
        return Number(
          setTimeout(
            guarded(() => callback(performance.now())),
            FRAME_MS,
          ).unref(),
        );
      },
      performance: { now: () => performance.now() },
    };
    const context = createContext(global);
    runInContext('var window = globalThis, self = globalThis, top = globalThis, parent = globalThis;', context);
    this.#global = context;
    for (const name of bindings()) this.bind(name);
    for (const source of scripts()) {
      try {
        this.run(source);
      } catch {
        // As in a browser: the page goes on without it.
      }
    }
    return context;
  }
}

function documentFace(document: StubDocument, onClosed: () => void): object {
  return {
    get title() {
      return document.title;
    },
    set title(title: string) {
      document.title = title;
    },
    URL: document.url,
    readyState: 'complete',
    visibilityState: 'visible',
    open: () => document.open(),
    write: (html: string) => document.write(html),
    close: onClosed,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
    documentElement: {
      get outerHTML() {
        return document.html;
      },
    },
  };
}

/** What a page's timer throws is the page's. */
function guarded(callback: () => void): () => void {
  return () => {
    try {
      callback();
    } catch {
      // A browser would print this in its console.
    }
  };
}

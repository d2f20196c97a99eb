import * as v from 'valibot';
import type { Params, Result } from './protocol.ts';
import { StubDocument, textOf } from './stub-document.ts';
import { StubRuntime } from './stub-runtime.ts';
import { newId, type StubSession, type StubTarget } from './stub-session.ts';

export interface PageContext {
  targetId: string;
  browserContextId: string;
  url: string;
  userAgent: string;
  /** Those that have a session with the page now. */
  sessions: () => StubSession[];
  close: () => void;
}

const navigation = v.object({ url: v.string() });
const newWorld = v.object({ worldName: v.optional(v.string(), '') });
const newScript = v.object({ source: v.string(), worldName: v.optional(v.string(), '') });

const LIFECYCLE = ['DOMContentLoaded', 'load', 'networkAlmostIdle', 'networkIdle'] as const;

/** One page: a document, and the worlds that scripts run in. */
export class StubPage implements StubTarget {
  readonly targetId: string;
  readonly #context: PageContext;
  readonly #runtime: StubRuntime;
  #document: StubDocument;
  #loaderId = newId();
  #earlierBytes = 0;

  constructor(context: PageContext) {
    this.#context = context;
    this.targetId = context.targetId;
    this.#document = new StubDocument(context.url, textOf(context.url) ?? '');
    const { sessions, userAgent } = context;
    const onDocumentClosed = () => this.#emitLoaded();
    this.#runtime = new StubRuntime({ frameId: this.targetId, userAgent, sessions, onDocumentClosed }, this.#document);
  }

  get info() {
    const { targetId, browserContextId } = this.#context;
    const { title, url } = this.#document;
    return { targetId, browserContextId, type: 'page', title, url, attached: true, canAccessOpener: false };
  }

  /** Bytes of the documents it was given. */
  get bytes(): number {
    return this.#earlierBytes + Buffer.byteLength(this.#document.html);
  }

  handle(method: string, params: Params, session: StubSession): Result | Promise<Result> | undefined {
    return this.#handlers[method]?.(params, session) ?? this.#runtime.handle(method, params, session);
  }

  readonly #handlers: Record<string, (params: Params, session: StubSession) => Result> = {
    'Page.enable': (_params, session) => {
      session.enabled.add('Page');
      return {};
    },
    'Page.setLifecycleEventsEnabled': ({ enabled }, session) => {
      if (!enabled) session.enabled.delete('lifecycle');
      else session.enabled.add('lifecycle');
      if (enabled) for (const name of LIFECYCLE) session.emit('Page.lifecycleEvent', this.#lifecycle(name));
      return {};
    },
    'Page.getFrameTree': () => ({ frameTree: { frame: this.#frame } }),
    'Page.navigate': (params) => this.#navigate(v.parse(navigation, params).url),
    'Page.reload': () => {
      this.#navigate(this.#document.url);
      return {};
    },
    'Page.createIsolatedWorld': (params) => {
      return { executionContextId: this.#runtime.isolatedWorld(v.parse(newWorld, params).worldName).id };
    },
    'Page.addScriptToEvaluateOnNewDocument': (params) => {
      const { source, worldName } = v.parse(newScript, params);
      return { identifier: String(this.#runtime.addScript(source, worldName)) };
    },
    'Page.close': () => {
      setImmediate(this.#context.close);
      return {};
    },
  };

  get #frame() {
    const { url } = this.#document;
    return {
      id: this.targetId,
      loaderId: this.#loaderId,
      url,
      domainAndRegistry: '',
      securityOrigin: '://',
      mimeType: 'text/html',
      secureContextType: 'InsecureScheme',
      crossOriginIsolatedContextType: 'NotIsolated',
      gatedAPIFeatures: [],
    };
  }

  #navigate(url: string): Result {
    const text = textOf(url);
    const loaderId = newId();
    const { targetId: frameId } = this;
    if (text === undefined) return { frameId, loaderId, errorText: 'net::ERR_INTERNET_DISCONNECTED' };
    // After the response, as in a browser that has yet to load it.
    setImmediate(() => this.#commit(new StubDocument(url, text), loaderId));
    return { frameId, loaderId };
  }

  #commit(document: StubDocument, loaderId: string): void {
    this.#earlierBytes = this.bytes;
    this.#document = document;
    this.#loaderId = loaderId;
    this.#emit('Page', 'Page.frameStartedLoading', { frameId: this.targetId });
    this.#emit('lifecycle', 'Page.lifecycleEvent', this.#lifecycle('init'));
    this.#runtime.reset(document);
    this.#emit('Page', 'Page.frameNavigated', { frame: this.#frame, type: 'Navigation' });
    this.#emitLoaded();
  }

  #emitLoaded(): void {
    const timestamp = performance.now() / 1000;
    for (const name of LIFECYCLE) {
      if (name === 'DOMContentLoaded') this.#emit('Page', 'Page.domContentEventFired', { timestamp });
      if (name === 'load') this.#emit('Page', 'Page.loadEventFired', { timestamp });
      this.#emit('lifecycle', 'Page.lifecycleEvent', this.#lifecycle(name));
    }
    this.#emit('Page', 'Page.frameStoppedLoading', { frameId: this.targetId });
  }

  #lifecycle(name: (typeof LIFECYCLE)[number] | 'init'): object {
    return { frameId: this.targetId, loaderId: this.#loaderId, name, timestamp: performance.now() / 1000 };
  }

  #emit(to: 'Page' | 'lifecycle', method: string, params: object): void {
    for (const session of this.#context.sessions()) if (session.enabled.has(to)) session.emit(method, params);
  }
}

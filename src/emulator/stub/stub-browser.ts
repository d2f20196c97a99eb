import type { WebSocket } from 'ws';
import { z } from 'zod';
import type { BrowserExit } from '../browser/browser-process.ts';
import { CdpError, type Params, type Result } from './protocol.ts';
import { StubConnection } from './stub-connection.ts';
import { StubPage } from './stub-page.ts';
import { type CommandTarget, newId, type SessionHost, type StubSession, type StubTarget } from './stub-session.ts';

const VERSION = '140.0.0.0';
const USER_AGENT = `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/${VERSION} Safari/537.36`;

/** A Chromium takes a moment to close; meanwhile the answer to who asked for it goes out. */
const CLOSE_MS = 50;

const ofTarget = z.object({ targetId: z.string() });
const ofContext = z.object({ browserContextId: z.string() });
const newTarget = z.object({ url: z.string().default('about:blank'), browserContextId: z.string().optional() });

type Handler = (params: Params, session: StubSession) => Result;

/** A browser that is none: contexts, pages and clients, in memory. The process that it stands for can die and stall. */
export class StubBrowser implements CommandTarget {
  readonly exited: Promise<BrowserExit>;
  readonly #connections = new Set<StubConnection>();
  readonly #pages = new Map<string, StubPage>();
  readonly #defaultContext = newId();
  /** Made by clients, each with the client it goes with. */
  readonly #contexts = new Map<string, SessionHost>();
  #end: (exit: BrowserExit) => void = () => undefined;
  #hasEnded = false;
  /** Set while it stands still. */
  #stalled: { over: Promise<void>; end: () => void } | undefined;
  #closedBytes = 0;

  constructor(url: string | undefined) {
    this.exited = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#addPage(this.#defaultContext, url ?? 'about:blank');
  }

  /** Bytes of the documents that its pages were given. */
  get bytes(): number {
    return [...this.#pages.values()].reduce((sum, page) => sum + page.bytes, this.#closedBytes);
  }

  connect(socket: WebSocket): void {
    const connection = new StubConnection(socket, this);
    this.#connections.add(connection);
    if (this.#stalled) connection.stall();
    socket.once('close', () => this.#forget(connection));
  }

  /** Ends as a process does: at once, whatever its clients are doing. */
  end(exit: BrowserExit): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const connection of this.#connections) connection.drop();
    this.#stalled?.end();
    this.#end(exit);
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Resolves at once, or when it no longer stands still: resumed or ended. */
  get running(): Promise<void> {
    return this.#stalled?.over ?? Promise.resolve();
  }

  stall(): void {
    if (this.#stalled || this.#hasEnded) return;
    let end: () => void = () => undefined;
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#stalled = { over, end };
    for (const connection of this.#connections) connection.stall();
  }

  resume(): void {
    this.#stalled?.end();
    this.#stalled = undefined;
    for (const connection of this.#connections) connection.resume();
  }

  /** Answers the commands of the browser itself; undefined for one it does not know. */
  handle(method: string, params: Params, session: StubSession): Result | undefined {
    return this.#handlers[method]?.(params, session);
  }

  closePage(page: StubPage): void {
    if (!this.#pages.delete(page.targetId)) return;
    this.#closedBytes += page.bytes;
    for (const connection of this.#connections) {
      for (const session of connection.sessions.filter((candidate) => candidate.page === page)) {
        connection.close(session);
        connection.root.emit('Target.detachedFromTarget', { sessionId: session.id, targetId: page.targetId });
      }
      if (connection.root.enabled.has('Target'))
        connection.root.emit('Target.targetDestroyed', { targetId: page.targetId });
    }
  }

  readonly #handlers: Record<string, Handler> = {
    'Browser.getVersion': () => ({
      protocolVersion: '1.3',
      product: `Chrome/${VERSION}`,
      revision: 'stub',
      userAgent: USER_AGENT,
      jsVersion: process.versions.v8,
    }),
    'Browser.getWindowForTarget': () => ({
      windowId: 1,
      bounds: { left: 0, top: 0, width: 1280, height: 800, windowState: 'normal' },
    }),
    'Browser.close': () => {
      setTimeout(() => this.end({ code: 0, signal: null }), CLOSE_MS).unref();
      return {};
    },
    'Target.setAutoAttach': ({ autoAttach }, session) => {
      if (session.page) return {}; // frames and workers: a stub has none
      if (autoAttach !== true) session.enabled.delete('autoAttach');
      else session.enabled.add('autoAttach');
      if (autoAttach === true) for (const page of this.#pages.values()) this.#attach(page, session);
      return {};
    },
    'Target.setDiscoverTargets': ({ discover }, session) => {
      if (!discover) session.enabled.delete('Target');
      else session.enabled.add('Target');
      if (discover)
        for (const page of this.#pages.values()) session.emit('Target.targetCreated', { targetInfo: page.info });
      return {};
    },
    'Target.createBrowserContext': (_params, { host }) => {
      const browserContextId = newId();
      this.#contexts.set(browserContextId, host);
      return { browserContextId };
    },
    'Target.getBrowserContexts': () => ({ browserContextIds: [...this.#contexts.keys()] }),
    'Target.disposeBrowserContext': (params) => {
      const { browserContextId } = ofContext.parse(params);
      if (!this.#contexts.has(browserContextId))
        throw new CdpError(`Failed to find context with id ${browserContextId}`);
      this.#dispose(browserContextId);
      return {};
    },
    'Target.createTarget': (params) => {
      const { url, browserContextId = this.#defaultContext } = newTarget.parse(params);
      if (browserContextId !== this.#defaultContext && !this.#contexts.has(browserContextId)) {
        throw new CdpError(`Failed to find browser context with id ${browserContextId}`);
      }
      return { targetId: this.#addPage(browserContextId, url).targetId };
    },
    'Target.closeTarget': (params) => {
      this.closePage(this.#page(params));
      return { success: true };
    },
    'Target.getTargets': () => ({ targetInfos: [...this.#pages.values()].map(({ info }) => info) }),
    'Target.getTargetInfo': (params, { page }) => {
      if (params.targetId !== undefined) return { targetInfo: this.#page(params).info };
      const self = { targetId: 'browser', type: 'browser', title: '', url: '', attached: true, canAccessOpener: false };
      return { targetInfo: page?.info ?? self };
    },
    'Target.attachToTarget': (params, { host }) => {
      const page = this.#page(params);
      const session = host.open(page);
      host.root.emit('Target.attachedToTarget', attached(session, page, false));
      return { sessionId: session.id };
    },
    'Target.attachToBrowserTarget': (_params, { host }) => ({ sessionId: host.open().id }),
    'Target.detachFromTarget': ({ sessionId }, { host }) => {
      const session = host.sessions.find(({ id }) => id !== undefined && id === sessionId);
      if (!session) throw new CdpError('No session with given id', -32_602);
      host.close(session);
      host.root.emit('Target.detachedFromTarget', { sessionId, targetId: session.page?.targetId });
      return {};
    },
  };

  #addPage(browserContextId: string, url: string): StubPage {
    const targetId = newId();
    const page = new StubPage({
      targetId,
      browserContextId,
      url,
      userAgent: USER_AGENT,
      sessions: () =>
        [...this.#connections].flatMap(({ sessions }) => sessions.filter(({ page }) => page?.targetId === targetId)),
      close: () => this.closePage(page),
    });
    this.#pages.set(page.targetId, page);
    for (const { root } of this.#connections) {
      if (root.enabled.has('Target')) root.emit('Target.targetCreated', { targetInfo: page.info });
      if (root.enabled.has('autoAttach')) this.#attach(page, root);
    }
    return page;
  }

  #attach(page: StubPage, { host }: StubSession): void {
    if (host.sessions.some((session) => session.page === page)) return;
    host.root.emit('Target.attachedToTarget', attached(host.open(page), page, true));
  }

  #page(params: Params): StubPage {
    const { targetId } = ofTarget.parse(params);
    const page = this.#pages.get(targetId);
    if (!page) throw new CdpError('No target with given id found', -32_602);
    return page;
  }

  #dispose(browserContextId: string): void {
    this.#contexts.delete(browserContextId);
    for (const page of this.#pages.values()) if (page.info.browserContextId === browserContextId) this.closePage(page);
  }

  /** What a client made goes with it, as `disposeOnDetach` has it. */
  #forget(connection: StubConnection): void {
    this.#connections.delete(connection);
    for (const [browserContextId, owner] of this.#contexts) if (owner === connection) this.#dispose(browserContextId);
  }
}

function attached({ id }: StubSession, { info }: StubTarget, waitingForDebugger: boolean): object {
  return { sessionId: id, targetInfo: { ...info, attached: true }, waitingForDebugger };
}

import * as v from 'valibot';
import { CdpError, type Params, type Result } from './protocol.ts';
import { StubPage } from './stub-page.ts';
import { type CommandTarget, newId, type SessionHost, type StubSession, type StubTarget } from './stub-session.ts';

const ofTarget = v.object({ targetId: v.string() });
const ofContext = v.object({ browserContextId: v.string() });
const newTarget = v.object({ url: v.optional(v.string(), 'about:blank'), browserContextId: v.optional(v.string()) });

/** The `Target` domain of a stub browser: its contexts, pages and attached clients. */
export class StubTargets implements CommandTarget {
  readonly #userAgent: string;
  readonly #clients = new Set<SessionHost>();
  readonly #pages = new Map<string, StubPage>();
  readonly #defaultContext = newId();
  /** Made by clients, each with the client it goes with. */
  readonly #contexts = new Map<string, SessionHost>();
  #closedBytes = 0;

  /** Begins with one page in the default context, as a browser does. */
  constructor(userAgent: string, url: string) {
    this.#userAgent = userAgent;
    this.#addPage(this.#defaultContext, url);
  }

  /** Bytes of the documents that its pages were given. */
  get bytes(): number {
    return [...this.#pages.values()].reduce((sum, page) => sum + page.bytes, this.#closedBytes);
  }

  addClient(client: SessionHost): void {
    this.#clients.add(client);
  }

  /** What a client made goes with it, as `disposeOnDetach` has it. */
  removeClient(client: SessionHost): void {
    this.#clients.delete(client);
    for (const [browserContextId, owner] of this.#contexts) if (owner === client) this.#dispose(browserContextId);
  }

  handle(method: string, params: Params, session: StubSession): Result | undefined {
    return this.#handlers[method]?.(params, session);
  }

  readonly #handlers: Record<string, (params: Params, session: StubSession) => Result> = {
    'Target.setAutoAttach': ({ autoAttach }, session) => {
      if (session.page) return {}; // frames and workers: a stub has none
      if (autoAttach !== true) session.enabled.delete('autoAttach');
      else session.enabled.add('autoAttach');
      if (autoAttach === true) for (const page of this.#pages.values()) this.#autoAttach(page, session);
      return {};
    },
    'Target.setDiscoverTargets': ({ discover }, session) => {
      if (discover !== true) session.enabled.delete('Target');
      else session.enabled.add('Target');
      if (discover === true) for (const { info } of this.#pages.values()) emitCreated(session, info);
      return {};
    },
    'Target.createBrowserContext': (_params, { host }) => {
      const browserContextId = newId();
      this.#contexts.set(browserContextId, host);
      return { browserContextId };
    },
    'Target.getBrowserContexts': () => ({
      browserContextIds: [...this.#contexts.keys()],
      defaultBrowserContextId: this.#defaultContext,
    }),
    'Target.disposeBrowserContext': (params) => {
      const { browserContextId } = v.parse(ofContext, params);
      if (!this.#contexts.has(browserContextId)) throw noContext(browserContextId);
      this.#dispose(browserContextId);
      return {};
    },
    'Target.createTarget': (params) => {
      const { url, browserContextId = this.#defaultContext } = v.parse(newTarget, params);
      const isKnown = browserContextId === this.#defaultContext || this.#contexts.has(browserContextId);
      if (!isKnown) throw noContext(browserContextId);
      return { targetId: this.#addPage(browserContextId, url).targetId };
    },
    'Target.closeTarget': (params) => {
      this.#close(this.#page(params));
      return { success: true };
    },
    'Target.getTargets': () => ({ targetInfos: [...this.#pages.values()].map(({ info }) => info) }),
    'Target.getTargetInfo': (params, { page }) => {
      if (params.targetId !== undefined) return { targetInfo: this.#page(params).info };
      const self = { targetId: 'browser', type: 'browser', title: '', url: '', attached: true, canAccessOpener: false };
      return { targetInfo: page?.info ?? self };
    },
    'Target.attachToTarget': (params, session) => ({ sessionId: attach(session, this.#page(params), false).id }),
    'Target.attachToBrowserTarget': (_params, session) => ({ sessionId: session.host.open(session).id }),
    'Target.detachFromTarget': ({ sessionId }, { host }) => {
      const session = host.sessions.find(({ id }) => id !== undefined && id === sessionId);
      if (!session) throw new CdpError('No session with given id', -32_602);
      detach(session);
      return {};
    },
  };

  #addPage(browserContextId: string, url: string): StubPage {
    const targetId = newId();
    const page = new StubPage({
      targetId,
      browserContextId,
      url,
      userAgent: this.#userAgent,
      sessions: () => this.#sessions().filter((session) => session.page?.targetId === targetId),
      close: () => this.#close(page),
    });
    this.#pages.set(targetId, page);
    for (const session of this.#sessions()) {
      if (session.enabled.has('Target')) emitCreated(session, page.info);
      if (session.enabled.has('autoAttach')) this.#autoAttach(page, session);
    }
    return page;
  }

  #autoAttach(page: StubPage, to: StubSession): void {
    const isAttached = to.host.sessions.some((session) => session.page === page && session.parent === to);
    if (!isAttached) attach(to, page, true);
  }

  #close(page: StubPage): void {
    if (!this.#pages.delete(page.targetId)) return;
    this.#closedBytes += page.bytes;
    for (const session of this.#sessions()) {
      if (session.page === page) detach(session);
      if (session.enabled.has('Target')) session.emit('Target.targetDestroyed', { targetId: page.targetId });
    }
  }

  #sessions(): StubSession[] {
    return [...this.#clients].flatMap(({ sessions }) => sessions);
  }

  #page(params: Params): StubPage {
    const page = this.#pages.get(v.parse(ofTarget, params).targetId);
    if (!page) throw new CdpError('No target with given id found', -32_602);
    return page;
  }

  #dispose(browserContextId: string): void {
    this.#contexts.delete(browserContextId);
    for (const page of this.#pages.values()) if (page.info.browserContextId === browserContextId) this.#close(page);
  }
}

function noContext(browserContextId: string): CdpError {
  return new CdpError(`Failed to find browser context with id ${browserContextId}`);
}

function emitCreated(session: StubSession, targetInfo: object): void {
  session.emit('Target.targetCreated', { targetInfo });
}

function attach(parent: StubSession, page: StubTarget, waitingForDebugger: boolean): StubSession {
  const session = parent.host.open(parent, page);
  const targetInfo = { ...page.info, attached: true };
  parent.emit('Target.attachedToTarget', { sessionId: session.id, targetInfo, waitingForDebugger });
  return session;
}

/** Ends a session, and those that were opened by it. */
function detach(session: StubSession): void {
  const { host, id, page, parent } = session;
  for (const child of host.sessions) if (child.parent === session) detach(child);
  host.close(session);
  parent?.emit('Target.detachedFromTarget', { sessionId: id, targetId: page?.targetId });
}

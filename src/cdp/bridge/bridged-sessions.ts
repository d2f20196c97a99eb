import type { Protocol } from 'devtools-protocol';
import type { BrowserModel } from '../model/browser-model.ts';
import { PerSession } from '../model/per-session.ts';
import type { Session } from '../model/session.ts';
import { type CdpMessage, fieldsOf } from '../transport/message.ts';

/** One target that makes requests, as far as a bridge has to know it. */
export interface BridgedSession {
  /** Of a page or a frame, the ID of its frame too. */
  targetId: string;
  /** Of its browser context. */
  contextId: string;
  /** A page or a frame; else a worker. */
  isDocument: boolean;
  /** The test gives its requests headers that say where they come from. */
  hasOwnOrigin: boolean;
  /** Playwright has the target's requests stopped, all of them, for routes or credentials. */
  playwrightIntercepts: boolean;
  ignoreHTTPSErrors: boolean;
  offline: boolean;
  /** The client has switched the target's cache off. */
  cacheDisabled: boolean;
  /** A worker that several pages share. */
  isShared: boolean;
}

/** Targets whose requests can be stopped. A dedicated worker's are stopped with its page's. */
const TYPES = new Set(['page', 'iframe', 'service_worker', 'shared_worker']);

/** Called for each new target, while it still waits to be let run. */
export type BeginBridged = (sessionId: string, session: BridgedSession) => void;

/**
 * What a bridge knows of each target that Playwright is attached to, by the session that Playwright itself works with.
 * A test may open further sessions on a target (`newCDPSession`), when its page has long been there: those are the test's.
 */
export class BridgedSessions {
  readonly #model: BrowserModel;
  readonly #begin: BeginBridged;
  readonly #bridged = new WeakMap<Session, BridgedSession>();
  /** What a test's own session has set, which ends with it. */
  readonly #setByTests: PerSession<{ isOffline: boolean }>;
  /** Said of the whole browser, which is how Puppeteer says it. */
  #ignoresHTTPSErrors = false;

  constructor(model: BrowserModel, begin: BeginBridged) {
    this.#model = model;
    this.#begin = begin;
    this.#setByTests = new PerSession(model, () => ({ isOffline: false }));
    model.onSessionEnd(({ id }) => {
      const target = this.targetOf(id);
      if (target && this.#setByTests.of(id)?.isOffline) target.offline = false;
    });
  }

  get(sessionId: string): BridgedSession | undefined {
    const session = this.#model.session(sessionId);
    return session && this.#bridged.get(session);
  }

  /** The target that a session of Playwright's or of a test's is on. */
  targetOf(sessionId: string): BridgedSession | undefined {
    const { sessions = [] } = this.#model.session(sessionId)?.target ?? {};
    for (const session of sessions) {
      const bridged = this.#bridged.get(session);
      if (bridged) return bridged;
    }
    return undefined;
  }

  /** The sessions of a browser context, by their IDs. */
  of(contextId: string): [sessionId: string, session: BridgedSession][] {
    return this.#model.sessionsIn(contextId).flatMap((session) => {
      const bridged = this.#bridged.get(session);
      return bridged ? [[session.id, bridged]] : [];
    });
  }

  /** To be told of the browser's events. */
  observe({ method, params }: CdpMessage): void {
    if (method !== 'Target.attachedToTarget') return;
    const session = this.#model.session(fieldsOf<Protocol.Target.AttachedToTargetEvent>(params).sessionId);
    if (session) this.#meet(session);
  }

  /** To be told of Playwright's commands, tests' own among them. */
  observeCommand({ method, params, sessionId }: CdpMessage): void {
    if (sessionId === undefined) {
      if (method === 'Security.setIgnoreCertificateErrors') this.#ignoreEverywhere(ignores(params));
      return;
    }
    const session = this.get(sessionId);
    if (session && method === 'Fetch.enable') session.playwrightIntercepts = true;
    if (session && method === 'Fetch.disable') session.playwrightIntercepts = false;
    // These hold for the target, whoever says so.
    const target = this.targetOf(sessionId);
    if (target && method === 'Network.setExtraHTTPHeaders') {
      const { headers } = fieldsOf<Protocol.Network.SetExtraHTTPHeadersRequest>(params);
      target.hasOwnOrigin = Object.keys(headers ?? {}).some((name) => /^(origin|referer)$/i.test(name));
    }
    if (target && method === 'Security.setIgnoreCertificateErrors') {
      target.ignoreHTTPSErrors = ignores(params);
    }
    if (target && method === 'Network.setCacheDisabled') {
      target.cacheDisabled = fieldsOf<Protocol.Network.SetCacheDisabledRequest>(params).cacheDisabled === true;
    }
    if (target && method === 'Network.emulateNetworkConditions') {
      const { offline } = fieldsOf<Protocol.Network.EmulateNetworkConditionsRequest>(params);
      target.offline = offline === true;
      const set = session ? undefined : this.#setByTests.of(sessionId);
      if (set) set.isOffline = target.offline;
    }
  }

  #ignoreEverywhere(ignore: boolean): void {
    this.#ignoresHTTPSErrors = ignore;
    for (const session of this.#model.sessions()) {
      const bridged = this.#bridged.get(session);
      if (bridged) bridged.ignoreHTTPSErrors = ignore;
    }
  }

  #meet(session: Session): void {
    const { id, target } = session;
    if (!TYPES.has(target.type) || this.targetOf(id)) return;
    // Puppeteer is attached to pages over their tabs.
    const parent = session.parent?.target.type === 'tab' ? undefined : session.parent;
    const opener = parent && this.#bridged.get(parent);
    // What is attached to over a test's session is the test's too, also where the browser tells of that one first.
    if (parent && !opener) return;
    // What Playwright tells a page before it tells the page's frames and workers holds for them.
    const { ignoreHTTPSErrors = this.#ignoresHTTPSErrors, offline = false, hasOwnOrigin = false } = opener ?? {};
    const bridged: BridgedSession = {
      targetId: target.id,
      contextId: String(target.contextId),
      isDocument: target.type === 'page' || target.type === 'iframe',
      hasOwnOrigin,
      playwrightIntercepts: false,
      ignoreHTTPSErrors,
      offline,
      cacheDisabled: false,
      isShared: target.type === 'shared_worker',
    };
    this.#bridged.set(session, bridged);
    this.#begin(id, bridged);
  }
}

function ignores(params: unknown): boolean {
  return fieldsOf<Protocol.Security.SetIgnoreCertificateErrorsRequest>(params).ignore === true;
}

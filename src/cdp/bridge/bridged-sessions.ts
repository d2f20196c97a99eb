import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, type Fields, fieldsOf } from '../transport/message.ts';

/** One target that makes requests, as far as a bridge has to know it. */
export interface BridgedSession {
  /** Of a page or a frame, the ID of its frame too. */
  targetId: string;
  /** Of its browser context. */
  contextId: string;
  /** A page or a frame; else a worker. */
  isDocument: boolean;
  /** Session of the page that a frame or worker was met in. */
  parent: string | undefined;
  /** Of a page, the ID of the frame that has opened it, if any. */
  openerId: string | undefined;
  /** The address that the target had at first. */
  url: string;
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
const TYPES = new Set<unknown>(['page', 'iframe', 'service_worker', 'shared_worker']);

/**
 * What a bridge knows of each target that Playwright is attached to, by the session that Playwright itself works with.
 * A test may open further sessions on a target (`newCDPSession`), when its page has long been there: those are the test's.
 */
export class BridgedSessions {
  readonly #sessions = new Map<string, BridgedSession>();
  /** Sessions of tests on targets that are bridged. */
  readonly #further = new Map<string, { target: BridgedSession; madeOffline: boolean }>();
  /** Sessions on tabs, over which Puppeteer is attached to their pages. */
  readonly #tabs = new Set<string>();
  /** Said of the whole browser, which is how Puppeteer says it. */
  #ignoresHTTPSErrors = false;
  readonly #begin: (sessionId: string, session: BridgedSession) => void;

  /** @param begin is called for each new target, while it still waits to be let run */
  constructor(begin: (sessionId: string, session: BridgedSession) => void) {
    this.#begin = begin;
  }

  get(sessionId: string): BridgedSession | undefined {
    return this.#sessions.get(sessionId);
  }

  /** The target that a session of Playwright's or of a test's is on. */
  targetOf(sessionId: string): BridgedSession | undefined {
    return this.#sessions.get(sessionId) ?? this.#further.get(sessionId)?.target;
  }

  /** The sessions of a browser context, by their IDs. */
  of(contextId: string): [sessionId: string, session: BridgedSession][] {
    return [...this.#sessions].filter(([, session]) => session.contextId === contextId);
  }

  /** To be told of the browser's `Target.*` events. */
  observe({ method, params, sessionId: parent }: CdpMessage): void {
    const { sessionId, targetInfo } = fieldsOf<Protocol.Target.AttachedToTargetEvent>(params);
    if (typeof sessionId !== 'string') return;
    if (method === 'Target.detachedFromTarget') this.#forget(sessionId);
    if (method === 'Target.attachedToTarget') this.#meet(sessionId, parent, fieldsOf(targetInfo));
  }

  /** To be told of Playwright's commands, tests' own among them. */
  observeCommand({ method, params, sessionId }: CdpMessage): void {
    if (sessionId === undefined) {
      if (method === 'Security.setIgnoreCertificateErrors') this.#ignoreEverywhere(ignores(params));
      return;
    }
    const session = this.#sessions.get(sessionId);
    const further = this.#further.get(sessionId);
    if (session && method === 'Fetch.enable') session.playwrightIntercepts = true;
    if (session && method === 'Fetch.disable') session.playwrightIntercepts = false;
    // These hold for the target, whoever says so.
    const target = session ?? further?.target;
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
      if (further) further.madeOffline = target.offline;
    }
  }

  #ignoreEverywhere(ignore: boolean): void {
    this.#ignoresHTTPSErrors = ignore;
    for (const session of this.#sessions.values()) session.ignoreHTTPSErrors = ignore;
  }

  #meet(sessionId: string, over: string | undefined, info: Fields<Protocol.Target.TargetInfo>): void {
    if (info.type === 'tab' && over === undefined) this.#tabs.add(sessionId);
    const parent = over !== undefined && this.#tabs.has(over) ? undefined : over;
    if (!TYPES.has(info.type)) return;
    const targetId = String(info.targetId);
    const known = [...this.#sessions.values()].find((session) => session.targetId === targetId);
    if (known) {
      this.#further.set(sessionId, { target: known, madeOffline: false });
      return;
    }
    const opener = parent === undefined ? undefined : this.#sessions.get(parent);
    // What is attached to over a test's session is the test's too, also where the browser tells of that one first.
    if (parent !== undefined && !opener) return;
    // What Playwright tells a page before it tells the page's frames and workers holds for them.
    const { ignoreHTTPSErrors = this.#ignoresHTTPSErrors, offline = false, hasOwnOrigin = false } = opener ?? {};
    const session: BridgedSession = {
      targetId,
      contextId: String(info.browserContextId),
      isDocument: info.type === 'page' || info.type === 'iframe',
      parent,
      openerId: typeof info.openerId === 'string' ? info.openerId : undefined,
      url: String(info.url),
      hasOwnOrigin,
      playwrightIntercepts: false,
      ignoreHTTPSErrors,
      offline,
      cacheDisabled: false,
      isShared: info.type === 'shared_worker',
    };
    this.#sessions.set(sessionId, session);
    this.#begin(sessionId, session);
  }

  #forget(sessionId: string): void {
    this.#tabs.delete(sessionId);
    this.#sessions.delete(sessionId);
    const further = this.#further.get(sessionId);
    this.#further.delete(sessionId);
    // The browser takes back what a session has set when that ends.
    if (further?.madeOffline) further.target.offline = false;
  }
}

function ignores(params: unknown): boolean {
  return fieldsOf<Protocol.Security.SetIgnoreCertificateErrorsRequest>(params).ignore === true;
}

import type { CdpMessage } from './message.ts';

/** One target that makes requests, as far as a bridge has to know it. */
export interface BridgedSession {
  /** Of its browser context. */
  contextId: string;
  /** A page or a frame; else a worker. */
  isDocument: boolean;
  /** Playwright has the target's requests stopped, all of them, for routes or credentials. */
  playwrightIntercepts: boolean;
  ignoreHTTPSErrors: boolean;
  offline: boolean;
}

/** Targets whose requests can be stopped. A dedicated worker's are stopped with its page's. */
const TYPES = new Set<unknown>(['page', 'iframe', 'service_worker', 'shared_worker']);

interface AttachedFields {
  sessionId?: unknown;
  targetInfo?: { type?: unknown; browserContextId?: unknown };
}

/** What a bridge knows of each target that Playwright is attached to. */
export class BridgedSessions {
  readonly #sessions = new Map<string, BridgedSession>();
  readonly #begin: (sessionId: string, isDocument: boolean) => void;

  /** @param begin is called for each new target, while it still waits to be let run */
  constructor(begin: (sessionId: string, isDocument: boolean) => void) {
    this.#begin = begin;
  }

  get(sessionId: string): BridgedSession | undefined {
    return this.#sessions.get(sessionId);
  }

  /** To be told of the browser's `Target.*` events. */
  observe({ method, params, sessionId: parent }: CdpMessage): void {
    const { sessionId, targetInfo }: AttachedFields = params ?? {};
    if (typeof sessionId !== 'string') return;
    if (method === 'Target.detachedFromTarget') this.#sessions.delete(sessionId);
    if (method !== 'Target.attachedToTarget' || !TYPES.has(targetInfo?.type)) return;
    // What Playwright tells a page before it tells the page's frames and workers holds for them.
    const { ignoreHTTPSErrors = false, offline = false } = this.#sessions.get(parent ?? '') ?? {};
    const contextId = String(targetInfo?.browserContextId);
    const isDocument = targetInfo?.type === 'page' || targetInfo?.type === 'iframe';
    this.#sessions.set(sessionId, { contextId, isDocument, playwrightIntercepts: false, ignoreHTTPSErrors, offline });
    this.#begin(sessionId, isDocument);
  }

  /** To be told of Playwright's commands. */
  sent({ method, params = {}, sessionId = '' }: CdpMessage): void {
    const session = this.#sessions.get(sessionId);
    if (!session) return;
    if (method === 'Fetch.enable') session.playwrightIntercepts = true;
    else if (method === 'Fetch.disable') session.playwrightIntercepts = false;
    else if (method === 'Security.setIgnoreCertificateErrors')
      session.ignoreHTTPSErrors = 'ignore' in params && params.ignore === true;
    else if (method === 'Network.emulateNetworkConditions')
      session.offline = 'offline' in params && params.offline === true;
  }
}

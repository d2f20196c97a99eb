import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../../message.ts';
import type { BrowserModel } from '../../model/browser-model.ts';
import type { Session, Target } from '../../model/session.ts';
import { emulatedConditions, type NetworkConditions } from '../send/network-conditions.ts';

/** Our script in documents, or what it reaches. */
export type ScriptPurpose = 'install' | 'reach';

interface InstalledScript {
  source: string;
  /** The browser's response. A page without an opener responds only when its first document is there. */
  added: Promise<unknown>;
  /** Sent before the target's first document was requested, which runs it for certain. */
  isFirst: boolean;
}

/** A target that makes requests, with the client's settings for them. */
export interface ProxiedTarget {
  /** The client's own session on it. */
  readonly session: Session;
  /** A page or a frame; otherwise a worker. */
  readonly isDocument: boolean;
  /** A worker shared by several pages. */
  readonly isShared: boolean;
  /** The test overrides headers that show where its requests come from. */
  hasOwnOrigin: boolean;
  /** The client pauses all requests of the target, for routes or credentials. */
  clientIntercepts: boolean;
  ignoreHTTPSErrors: boolean;
  /** The network that the client or a test emulates. */
  conditions: NetworkConditions | null;
  cacheDisabled: boolean;
  /** The headers that the client adds to each request. */
  extraHeaders: Record<string, string>;
  /** The languages that the client emulates, as in `Accept-Language`; undefined for the browser's own. */
  languages: string | undefined;
  /** It waits for the debugger when the browser announces it. */
  readonly isHeld: boolean;
  /** The scripts that we install in its documents, from the next one on, and the browser's responses to that. */
  readonly scripts: Partial<Record<ScriptPurpose, InstalledScript>>;
  /** The client has detached; the session is kept for the target's requests. */
  isKept: boolean;
}

/** Whether a session's target is a worker of any kind. */
export function isWorker({ target }: Session): boolean {
  return /^(worker|service_worker|shared_worker)$/.test(target.type);
}

/** Targets whose requests can be paused. A dedicated worker's are paused with its page's. */
const TYPES = /^(page|iframe|service_worker|shared_worker)$/;

/**
 * The targets that the client itself is attached to. A test may open more sessions on a target later (`newCDPSession`).
 */
export class ProxiedTargets {
  readonly #model: BrowserModel;
  readonly #begin: (target: ProxiedTarget, url: string) => void;
  readonly #targets = new WeakMap<Session, ProxiedTarget>();
  /** Set for the whole browser, as Puppeteer does. */
  #ignoresHTTPSErrors = false;

  /** @param begin called with each new target, while it still waits for the debugger, and with its address */
  constructor(model: BrowserModel, begin: (target: ProxiedTarget, url: string) => void) {
    this.#model = model;
    this.#begin = begin;
    model.onSessionEnd(({ id }) => {
      const target = this.of(id);
      // A setting made by a test's session ends with that session.
      if (target?.conditions?.by === id) target.conditions = null;
    });
  }

  /** The target of one of the client's own sessions. */
  get(sessionId: string | undefined): ProxiedTarget | undefined {
    const session = this.#model.session(sessionId);
    return session && this.#targets.get(session);
  }

  /** The target whose settings apply to a session: its own one or, for a dedicated worker, that of its page. */
  serving(session: Session | undefined): ProxiedTarget | undefined {
    if (session?.target.type === 'worker') return this.serving(session.parent);
    return session && this.#targets.get(session);
  }

  /** The target of a session that the client or a test has opened. */
  of(sessionId: string | undefined): ProxiedTarget | undefined {
    return this.#of(this.#model.session(sessionId)?.target);
  }

  /** @param id of a page, or of its main frame */
  ofPage(id: string): ProxiedTarget | undefined {
    return this.#of(this.#model.target(id));
  }

  in(contextId: string | undefined): ProxiedTarget[] {
    return this.#model.sessionsIn(String(contextId)).flatMap((session) => this.#targets.get(session) ?? []);
  }

  /** Takes messages from the browser. */
  observe({ method, params }: CdpMessage): void {
    if (method !== 'Target.attachedToTarget') return;
    const { sessionId, targetInfo, waitingForDebugger } = fieldsOf<Protocol.Target.AttachedToTargetEvent>(params);
    const session = this.#model.session(sessionId);
    const met = session && this.#meet(session, waitingForDebugger === true);
    if (met) this.#begin(met, String(fieldsOf<Protocol.Target.TargetInfo>(targetInfo).url));
  }

  /** Takes the client's commands, including those that a test sends. */
  observeCommand(command: CdpMessage): void {
    const { method, params, sessionId } = command;
    if (sessionId === undefined && method === 'Security.setIgnoreCertificateErrors') {
      this.#ignoresHTTPSErrors = ignores(params);
      for (const session of this.#model.sessions()) {
        const target = this.#targets.get(session);
        if (target) target.ignoreHTTPSErrors = this.#ignoresHTTPSErrors;
      }
    }
    const own = this.get(sessionId);
    if (own && method === 'Fetch.enable') own.clientIntercepts = true;
    if (own && method === 'Fetch.disable') own.clientIntercepts = false;
    // These apply to the target, no matter which session sets them.
    const target = this.of(sessionId);
    if (target) this.#apply(target, command);
  }

  #of(target: Target | undefined): ProxiedTarget | undefined {
    for (const session of target?.sessions ?? []) if (session.isClients) return this.#targets.get(session);
    return undefined;
  }

  #apply(target: ProxiedTarget, command: CdpMessage): void {
    const { method, params } = command;
    if (method === 'Network.setExtraHTTPHeaders') {
      const { headers } = fieldsOf<Protocol.Network.SetExtraHTTPHeadersRequest>(params);
      target.extraHeaders = fieldsOf<Record<string, string>>(headers) as Record<string, string>;
      target.hasOwnOrigin = Object.keys(target.extraHeaders).some((name) => /^(origin|referer)$/i.test(name));
    } else if (method === 'Emulation.setUserAgentOverride') {
      const { acceptLanguage } = fieldsOf<Protocol.Emulation.SetUserAgentOverrideRequest>(params);
      target.languages = typeof acceptLanguage === 'string' && acceptLanguage !== '' ? acceptLanguage : undefined;
    } else if (method === 'Security.setIgnoreCertificateErrors') {
      target.ignoreHTTPSErrors = ignores(params);
    } else if (method === 'Network.setCacheDisabled') {
      target.cacheDisabled = fieldsOf<Protocol.Network.SetCacheDisabledRequest>(params).cacheDisabled === true;
    } else {
      target.conditions = emulatedConditions(command) ?? target.conditions;
    }
  }

  #meet(session: Session, isHeld: boolean): ProxiedTarget | undefined {
    const { target, parent } = session;
    if (!session.isClients || !TYPES.test(target.type)) return undefined;
    // Settings that the client makes on a page apply to its frames and workers before it sets their own.
    const inherited = parent && this.#targets.get(parent);
    const met: ProxiedTarget = {
      session,
      isDocument: target.type === 'page' || target.type === 'iframe',
      isShared: target.type === 'shared_worker',
      hasOwnOrigin: inherited?.hasOwnOrigin ?? false,
      extraHeaders: inherited?.extraHeaders ?? {},
      languages: inherited?.languages,
      clientIntercepts: false,
      ignoreHTTPSErrors: inherited?.ignoreHTTPSErrors ?? this.#ignoresHTTPSErrors,
      conditions: inherited?.conditions ? { ...inherited.conditions, by: session.id } : null,
      cacheDisabled: false,
      isHeld,
      scripts: {},
      isKept: false,
    };
    this.#targets.set(session, met);
    return met;
  }
}

function ignores(params: unknown): boolean {
  return fieldsOf<Protocol.Security.SetIgnoreCertificateErrorsRequest>(params).ignore === true;
}

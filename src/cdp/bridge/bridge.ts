import type { Protocol } from 'devtools-protocol';
import * as v from 'valibot';
import type { CarriedDownloads } from '../files/carried-downloads.ts';
import { SessionMap } from '../model/per-session.ts';
import type { Interceptor, InterceptorLink } from '../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../transport/message.ts';
import { BridgedDocuments } from './bridged-documents.ts';
import type { BridgedSession, BridgedSessions } from './bridged-sessions.ts';
import { CarriedFiles } from './files/carried-files.ts';
import { isFile } from './files/is-file.ts';
import type { Reach } from './intent/reach.ts';
import { LargeAnswers } from './large-answers/large-answers.ts';
import { CarriedRequests } from './requests/carried-requests.ts';
import { type ContinueFields, givenHeaders, type PausedRequest, pausedRequest } from './requests/paused-request.ts';
import { BridgedWebSockets } from './web-sockets/bridged-web-sockets.ts';

/** Commands that let a stopped request go. */
const ANSWERS = new Set(['Fetch.continueRequest', 'Fetch.fulfillRequest', 'Fetch.failRequest']);

/** Who a bridge serves, and what it tells. */
export interface BridgeParts {
  sessions: BridgedSessions;
  reach: Reach;
  /** Told of the bytes of bodies and WebSocket messages, both ways and decoded. */
  onCarried: (bytes: number) => void;
  /** Takes what the browser would download, and need not have. */
  downloads: CarriedDownloads;
}

/** Bound on a page's answer that it has taken our scripts, in ms: one that runs takes a few. */
const PREPARED_MS = 2_000;

/**
 * Carries requests of pages through this machine: to hosts that they reach by {@link Reach}. The browser stops them
 * (CDP's Fetch domain), this machine makes them, and the browser is handed the answer. Playwright's own use of that
 * domain, for routes, goes first and knows nothing of this: only what it lets go on to the network is carried. Each
 * redirect is a request of its own that is judged anew. Where Playwright stops no requests, the browser stops those to
 * these hosts and no others.
 */
export class NetworkBridge implements Interceptor {
  readonly #link: InterceptorLink;
  readonly #reach: Reach;
  readonly #sessions: BridgedSessions;
  readonly #requests: CarriedRequests;
  readonly #files: CarriedFiles;
  readonly #webSockets: BridgedWebSockets;
  readonly #largeAnswers: LargeAnswers;
  /** Requests that Playwright has stopped, by session and ID. */
  readonly #withPlaywright: SessionMap<string, PausedRequest>;
  /** Sessions that the client has given up and the bridge has kept, for what their targets request. */
  readonly #kept: SessionMap<string, true>;
  /** Pages and frames whose documents have our scripts. */
  readonly #prepared: SessionMap<string, true>;

  constructor(link: InterceptorLink, { sessions, reach, onCarried, downloads }: BridgeParts) {
    this.#link = link;
    this.#reach = reach;
    this.#sessions = sessions;
    this.#withPlaywright = new SessionMap(link.model);
    this.#kept = new SessionMap(link.model);
    this.#prepared = new SessionMap(link.model);
    const hostsIn = (sessionId: string) => reach.hostsOf(sessions.get(sessionId)?.contextId ?? '');
    const documents = new BridgedDocuments(link.model, hostsIn);
    const parts = { hostsIn, sessions, documents, onCarried };
    this.#webSockets = new BridgedWebSockets(link, parts);
    this.#largeAnswers = new LargeAnswers(link, parts);
    this.#files = new CarriedFiles(link, onCarried);
    const onRedirect = (paused: PausedRequest, location: string) => this.#reach.noteCarriedRedirect?.(paused, location);
    this.#requests = new CarriedRequests(link, { ...parts, downloads, largeAnswers: this.#largeAnswers, onRedirect });
  }

  /** A new target, which waits to be let run. */
  begin(sessionId: string, session: BridgedSession): void {
    if (this.#reach.hostsOf(session.contextId).urlPatterns.length === 0) return;
    this.#stopRequests(sessionId, session);
    // The client does not care for these; here it has to be known who asks.
    if (session.isShared) this.#link.post('Network.enable', {}, sessionId);
    if (!session.isDocument) return;
    void this.#prepare(sessionId);
    this.#requests.prepare(sessionId, session.targetId);
  }

  /**
   * Pages of a context reach more than before: those that are there already too. Resolves when the browser has been told.
   * @param led the page that is about to be led to one of its hosts
   */
  async extend(contextId: string, led: BridgedSession | undefined): Promise<void> {
    for (const [sessionId, session] of this.#sessions.of(contextId)) {
      if (!session.playwrightIntercepts) this.#stopRequests(sessionId, session);
      if (session.isDocument && (session === led || this.#prepared.get(sessionId))) {
        await this.#prepareWithin(sessionId);
      }
    }
  }

  onCommand(command: CdpMessage): CdpMessage | null {
    const { method, sessionId } = command;
    this.#sessions.observeCommand(command);
    if (method === 'Target.detachFromTarget' && this.#keep(command)) return null;
    if (sessionId === undefined || method === undefined) return command;
    if (this.#requests.onCommand(command) === null) return null;
    const session = method === 'Fetch.disable' ? this.#sessions.get(sessionId) : undefined;
    const own = session && this.#ownPatterns(session);
    if (own && own.patterns?.length !== 0) return { ...command, method: 'Fetch.enable', params: own };
    return ANSWERS.has(method) ? this.#onAnswer(sessionId, command) : command;
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    const { sessionId: gone } = fieldsOf<Protocol.Target.DetachedFromTargetEvent>(message.params);
    const passed = this.#onMessage(message);
    return this.#kept.get(message.sessionId ?? String(gone)) ? null : passed;
  }

  #onMessage(message: CdpMessage): CdpMessage | null {
    const { method, sessionId } = message;
    this.#sessions.observe(message);
    if (sessionId !== undefined && message.id !== undefined) return this.#requests.onMessage(message);
    if (sessionId === undefined || method === undefined) return message;
    const session = this.#sessions.get(sessionId);
    if (method.startsWith('Network.')) return this.#requests.onMessage(message);
    if (method.startsWith('Runtime.') && this.#requests.isOfOwnWorld(message)) return null;
    if (method === 'Runtime.bindingCalled') {
      return this.#webSockets.binding.onMessage(message) && this.#largeAnswers.binding.onMessage(message);
    }
    if (method !== 'Fetch.requestPaused' || !session) return message;
    const paused = pausedRequest(sessionId, message.params);
    if (!paused) return message;
    if (session.playwrightIntercepts) {
      this.#withPlaywright.set(key(sessionId, paused.requestId), paused, sessionId);
      return message;
    }
    void this.#carry(paused, session, { requestId: paused.requestId });
    return null;
  }

  end(): void {
    this.#requests.end();
  }

  /**
   * Playwright leaves each worker that pages share as soon as it meets it, and with the last session on it ends what stops
   * its requests. Returns whether the session stays, which Playwright does not see.
   */
  #keep({ id, sessionId: over, params }: CdpMessage): boolean {
    const { sessionId } = fieldsOf<Protocol.Target.DetachFromTargetRequest>(params);
    const session = typeof sessionId === 'string' ? this.#sessions.get(sessionId) : undefined;
    if (!session?.isShared || this.#reach.hostsOf(session.contextId).urlPatterns.length === 0) return false;
    this.#kept.set(String(sessionId), true, String(sessionId));
    const where = over === undefined ? {} : { sessionId: over };
    const left = { sessionId, targetId: session.targetId };
    this.#link.deliver({ ...where, id, result: {} });
    this.#link.deliver({ ...where, method: 'Target.detachedFromTarget', params: left });
    return true;
  }

  /** Playwright lets a request go that it has stopped. */
  #onAnswer(sessionId: string, command: CdpMessage): CdpMessage | null {
    const fields: ContinueFields = fieldsOf(command.params);
    const known = key(sessionId, fields.requestId);
    const paused = this.#withPlaywright.get(known);
    this.#withPlaywright.delete(known);
    const session = this.#sessions.get(sessionId);
    if (!paused || !session) return command;
    const location = command.method === 'Fetch.fulfillRequest' ? redirectOf(command.params) : null;
    if (location !== null) this.#reach.noteRedirected?.(paused, session, location);
    if (command.method !== 'Fetch.continueRequest') return command;
    if (!this.#isReached(paused, session, fields)) return command;
    void this.#carry(paused, session, fields);
    this.#link.deliver({ id: command.id, sessionId, result: {} });
    return null;
  }

  /**
   * Carries a request that nobody else has an answer to, or lets it go its own way. Never rejects.
   * @param fields what it is let go with
   */
  async #carry(paused: PausedRequest, session: BridgedSession, fields: ContinueFields): Promise<void> {
    const isReached = this.#isReached(paused, session, fields);
    const isCarried = isReached && (await this.#reach.allows(paused, session, urlOf(paused, fields)));
    if (!isCarried) {
      this.#link.post('Fetch.continueRequest', fields as Protocol.Fetch.ContinueRequestRequest, paused.sessionId);
      return;
    }
    if (isFile(paused.url)) return await this.#files.carry(paused, fields);
    // Of a page that was there before its context reached anything.
    if (paused.isNavigation && session.isDocument) await this.#prepareWithin(paused.sessionId);
    await this.#requests.carry(paused, fields);
  }

  #isReached(paused: PausedRequest, { contextId }: BridgedSession, fields: ContinueFields): boolean {
    return this.#reach.hostsOf(contextId).matches(urlOf(paused, fields));
  }

  #stopRequests(sessionId: string, session: BridgedSession): void {
    this.#link.post('Fetch.enable', this.#ownPatterns(session), sessionId);
  }

  /** Has our scripts run in documents of hosts that it reaches, from the next one on. */
  async #prepare(sessionId: string): Promise<void> {
    this.#prepared.set(sessionId, true, sessionId);
    await Promise.all([this.#webSockets.binding.prepare(sessionId), this.#largeAnswers.binding.prepare(sessionId)]);
  }

  /** The same before a navigation, which a page that does not answer must not keep from going. */
  async #prepareWithin(sessionId: string): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, PREPARED_MS);
    });
    await Promise.race([this.#prepare(sessionId), late]).finally(() => clearTimeout(timer));
  }

  #ownPatterns({ contextId }: BridgedSession): Protocol.Fetch.EnableRequest {
    const { urlPatterns } = this.#reach.hostsOf(contextId);
    return { patterns: urlPatterns.map((urlPattern) => ({ urlPattern, requestStage: 'Request' as const })) };
  }
}

/** Where a request goes that is let go. */
function urlOf(paused: PausedRequest, { url }: ContinueFields): string {
  return typeof url === 'string' ? url : paused.url;
}

/** Where an answer of the test's redirects to; null for one that does not. */
function redirectOf(params: unknown): string | null {
  const { responseCode, responseHeaders } = fieldsOf<Protocol.Fetch.FulfillRequestRequest>(params);
  if (typeof responseCode !== 'number' || responseCode < 300 || responseCode >= 400) return null;
  const headers = v.safeParse(givenHeaders, responseHeaders);
  const location = headers.success ? headers.output.find(({ name }) => /^location$/i.test(name)) : undefined;
  return location?.value ?? null;
}

function key(sessionId: string, id: unknown): string {
  return `${sessionId} ${id}`;
}

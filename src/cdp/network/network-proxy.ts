import type { Protocol } from 'devtools-protocol';
import * as v from 'valibot';
import { monotonicNow } from '../../common/clock.ts';
import type { Dial } from '../../common/dial/dial.ts';
import { within } from '../../common/pause.ts';
import type { ProxiedDownloads } from '../files/proxied-downloads.ts';
import { type CdpMessage, fieldsOf } from '../message.ts';
import { SessionMap } from '../model/per-session.ts';
import type { Session } from '../model/session.ts';
import type { Interceptor, InterceptorTransport } from '../transport/interceptor.ts';
import { RequestCookies } from './cookies/request-cookies.ts';
import { ProxiedFiles } from './files/proxied-files.ts';
import { isFile, type ProxiedHosts } from './hosts/proxied-hosts.ts';
import type { PageBinding } from './page-binding/page-binding.ts';
import type { ProxiedDocuments } from './page-binding/proxied-documents.ts';
import type { NetworkPolicy } from './policy/network-policy.ts';
import { ImpliedHeaders } from './proxied-requests/implied-headers.ts';
import { ProxiedRequests } from './proxied-requests/proxied-requests.ts';
import { UnattendedRequests } from './proxied-requests/unattended-requests.ts';
import { type ContinueFields, givenHeaders, type PausedRequest, pausedRequest } from './request/paused-request.ts';
import type { ProxiedTarget, ProxiedTargets } from './request/proxied-targets.ts';
import type { ContextProxies } from './send/context-proxy/context-proxies.ts';
import type { ProxiedTraffic } from './send/proxied-traffic.ts';
import { StreamedResponses } from './streaming/streamed-responses.ts';
import { ProxiedWebSockets } from './websockets/proxied-websockets.ts';

/** Commands that release a paused request. */
const RELEASES = new Set(['Fetch.continueRequest', 'Fetch.fulfillRequest', 'Fetch.failRequest']);

/** The targets that a proxy serves, its rules, and its callbacks. */
export interface ProxyParts {
  targets: ProxiedTargets;
  policy: NetworkPolicy;
  documents: ProxiedDocuments;
  binding: PageBinding;
  traffic: ProxiedTraffic | undefined;
  /** Takes downloads whose content the browser does not need. */
  downloads: ProxiedDownloads;
  proxies: ContextProxies;
  /** Default: connections start on this machine. */
  dial?: Dial | undefined;
}

/** A request that the client releases within this time, in ms, has current cookies, unless a command changed them. */
const FRESH_MS = 50;

/** Our scripts in a page, which reach some hosts. */
interface Preparation {
  hosts: ProxiedHosts;
  /** Resolves when the page has confirmed them. Never rejects. */
  done: Promise<void>;
  isDone: boolean;
}

/** Time limit for a page to confirm that it has our scripts, in ms: a running page takes a few ms. */
const PREPARED_MS = 2_000;

/**
 * Makes pages' requests from this machine to the hosts that {@link NetworkPolicy} allows. The browser pauses them
 * (CDP's Fetch domain), this machine makes them, and the browser gets the response. The client's own use of that
 * domain, for routes, comes first and is unaffected: only requests that it continues to the network are proxied. Each
 * redirect is a new request, which is judged again. If the client pauses no requests, the browser pauses only those to
 * these hosts.
 */
export class NetworkProxy implements Interceptor {
  readonly #transport: InterceptorTransport;
  readonly #policy: NetworkPolicy;
  readonly #targets: ProxiedTargets;
  readonly #requests: ProxiedRequests;
  readonly #unattended: UnattendedRequests;
  readonly #implied: ImpliedHeaders;
  readonly #files: ProxiedFiles;
  readonly #binding: PageBinding;
  readonly #cookies: RequestCookies;
  /** Requests that the client has paused, by session and ID, with the state of cookies then. */
  readonly #withClient: SessionMap<string, { paused: PausedRequest; since: number; changes: number }>;
  readonly #preparations = new WeakMap<ProxiedTarget, Preparation>();
  /** How many commands of the client and responses may have changed cookies. */
  #cookieChanges = 0;

  constructor(transport: InterceptorTransport, parts: ProxyParts) {
    const { targets, policy, documents, binding, traffic } = parts;
    this.#transport = transport;
    this.#policy = policy;
    this.#targets = targets;
    this.#withClient = new SessionMap(transport.model);
    this.#cookies = new RequestCookies(transport);
    this.#unattended = new UnattendedRequests(transport, targets, (message) => void this.#proxyUnattended(message));
    this.#binding = binding;
    this.#implied = new ImpliedHeaders(transport);
    new ProxiedWebSockets(transport, { ...parts, implied: this.#implied });
    this.#files = new ProxiedFiles(transport, traffic);
    this.#requests = new ProxiedRequests(transport, {
      ...parts,
      implied: this.#implied,
      cookies: this.#cookies,
      streams: new StreamedResponses(transport, documents, binding),
      onRedirect: (paused, url, location) => policy.noteProxiedRedirect(paused, url, location),
      onCookies: () => {
        this.#cookieChanges += 1;
      },
    });
  }

  /** A new target, which waits for the debugger. */
  begin(target: ProxiedTarget): void {
    if (!this.#reachesAny(target)) return;
    this.#stopRequests(target);
    // The client does not need these events; the proxy uses them to find the initiator.
    if (target.isShared) this.#transport.post('Network.enable', {}, target.session.id);
    if (!target.isDocument) {
      this.#prepareWorker(target.session, target);
      return;
    }
    this.#prepare(target, true).isDone = true;
    this.#implied.prepare(target.session);
  }

  /** Whether the next document of a page certainly has our scripts, with all hosts that it reaches. */
  isPrepared(target: ProxiedTarget): boolean {
    const { hosts, isDone = false } = this.#preparations.get(target) ?? {};
    return isDone && hosts === this.#policy.hostsOf(target);
  }

  /**
   * Lets pages of a context reach more hosts, including pages that are already open. Resolves when the browser has the
   * new patterns.
   * @param led the page that is about to navigate to one of these hosts. Later it is too late: the browser gives a page
   *   that is navigating no commands. An unresponsive page must not block the navigation.
   */
  async extend(led: ProxiedTarget): Promise<void> {
    for (const target of this.#targets.in(led.session.target.contextId)) {
      if (this.#preparations.get(target)?.hosts === this.#policy.hostsOf(target)) continue;
      if (!target.clientIntercepts) this.#stopRequests(target);
      this.#prepare(target);
    }
    await within(this.#prepare(led).done, PREPARED_MS, undefined);
  }

  onCommand(command: CdpMessage): CdpMessage | null {
    const { method = '', sessionId } = command;
    if (!method.startsWith('Fetch.')) this.#cookieChanges += 1;
    this.#cookies.observeCommand(command);
    if (method === 'Target.detachFromTarget' && this.#keep(command)) return null;
    if (sessionId === undefined) return command;
    if (this.#requests.onCommand(command) === null) return null;
    const target = this.#targets.get(sessionId);
    if (!target) return command;
    if (method === 'Fetch.disable' && this.#reachesAny(target)) {
      return { ...command, method: 'Fetch.enable', params: this.#ownPatterns(target) };
    }
    return RELEASES.has(method) ? this.#onRelease(sessionId, command) : command;
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    const { sessionId: gone } = fieldsOf<Protocol.Target.DetachedFromTargetEvent>(message.params);
    const passed = this.#onMessage(message);
    return this.#targets.get(message.sessionId ?? String(gone))?.isKept ? null : passed;
  }

  #onMessage(message: CdpMessage): CdpMessage | null {
    const { id, method = '', sessionId, params } = message;
    if (sessionId === undefined) {
      if (method !== 'Fetch.requestPaused') return message;
      void this.#proxyUnattended(message);
      return null;
    }
    this.#cookies.observe(message);
    if (method === 'Target.attachedToTarget') this.#beginWorker(params);
    if (id !== undefined || method.startsWith('Network.')) return this.#requests.onMessage(message);
    if (method.startsWith('Runtime.') && this.#implied.isOfOwnWorld(message)) return null;
    if (method === 'Runtime.bindingCalled') return this.#binding.onMessage(message);
    const target = method === 'Fetch.requestPaused' ? this.#targets.get(sessionId) : undefined;
    const paused = target && pausedRequest(target, params);
    if (!paused) return message;
    if (target.clientIntercepts) {
      const held = { paused, since: monotonicNow(), changes: this.#cookieChanges };
      this.#withClient.set(key(sessionId, paused.requestId), held, sessionId);
      return message;
    }
    void this.#proxy(paused, { requestId: paused.requestId }, false);
    return null;
  }

  end(): void {
    this.#requests.end();
  }

  /** A dedicated worker of a page, which waits for the debugger. */
  #beginWorker(params: unknown): void {
    const session = this.#transport.model.session(fieldsOf<Protocol.Target.AttachedToTargetEvent>(params).sessionId);
    const target = session?.target.type === 'worker' ? this.#targets.serving(session) : undefined;
    if (session && target && this.#reachesAny(target)) this.#prepareWorker(session, target);
  }

  /**
   * Playwright detaches from every shared worker as soon as it is announced, and the last session that ends takes the
   * pausing of requests with it. Returns whether the session is kept, hidden from Playwright.
   */
  #keep({ id, sessionId: over, params }: CdpMessage): boolean {
    const { sessionId } = fieldsOf<Protocol.Target.DetachFromTargetRequest>(params);
    const target = typeof sessionId === 'string' ? this.#targets.get(sessionId) : undefined;
    if (!target?.isShared || !this.#reachesAny(target)) return false;
    target.isKept = true;
    const where = over === undefined ? {} : { sessionId: over };
    const left = { sessionId, targetId: target.session.target.id };
    this.#transport.deliver({ ...where, id, result: {} });
    this.#transport.deliver({ ...where, method: 'Target.detachedFromTarget', params: left });
    return true;
  }

  /** The client releases a request that it has paused. */
  #onRelease(sessionId: string, command: CdpMessage): CdpMessage | null {
    const { id, method, params } = command;
    const fields: ContinueFields = fieldsOf(params);
    const known = key(sessionId, fields.requestId);
    const held = this.#withClient.get(known);
    this.#withClient.delete(known);
    if (!held) return command;
    const { paused, since, changes } = held;
    const location = method === 'Fetch.fulfillRequest' ? redirectOf(params) : null;
    if (location !== null) this.#policy.noteRedirected(paused, location);
    if (method !== 'Fetch.continueRequest' || !this.#isReached(paused, fields)) return command;
    const isStale = changes !== this.#cookieChanges || monotonicNow() - since > FRESH_MS;
    void this.#proxy(paused, fields, isStale);
    this.#transport.deliver({ id, sessionId, result: {} });
    return null;
  }

  /** A request that only a session on the browser has paused. Never rejects. */
  async #proxyUnattended(message: CdpMessage): Promise<void> {
    const { requestId = '' } = fieldsOf<Protocol.Fetch.RequestPausedEvent>(message.params);
    const paused = await this.#unattended.of(message);
    if (!paused) this.#transport.post('Fetch.continueRequest', { requestId: String(requestId) }, message.sessionId);
    else if (!this.#requests.handOver(paused)) await this.#proxy(paused, { requestId: paused.requestId }, false);
  }

  /**
   * Proxies a request that has no response yet, denies it, or lets it continue to the network. Never rejects.
   * @param fields the parameters of the release
   * @param isStale whether cookies may have changed since the browser has paused it
   */
  async #proxy(paused: PausedRequest, fields: ContinueFields, isStale: boolean): Promise<void> {
    const { sessionId, requestId } = paused;
    if (!this.#isReached(paused, fields)) {
      this.#transport.post('Fetch.continueRequest', fields as Protocol.Fetch.ContinueRequestRequest, sessionId);
      return;
    }
    if (!(await this.#policy.allows(paused, urlOf(paused, fields)))) {
      // Its document would count as one of this machine if the browser's own machine had such a server.
      const errorReason = isFile(paused.url) ? 'AccessDenied' : 'ConnectionRefused';
      this.#transport.post('Fetch.failRequest', { requestId, errorReason }, sessionId);
      return;
    }
    // Its page has closed meanwhile: the root session has paused it again.
    if (sessionId !== undefined && !this.#transport.model.session(sessionId)) return;
    if (isFile(paused.url)) return await this.#files.proxy(paused, fields);
    await this.#requests.proxy(paused, fields, isStale);
  }

  #isReached(paused: PausedRequest, fields: ContinueFields): boolean {
    return this.#policy.hostsOf(paused.target).matches(urlOf(paused, fields));
  }

  #reachesAny(target: ProxiedTarget): boolean {
    return this.#policy.hostsOf(target).urlPatterns.length > 0;
  }

  #stopRequests(target: ProxiedTarget): void {
    // First: the next command makes the target's documents use both.
    // Not those of the context's proxy, which may be all: all other contexts would wait for us.
    this.#unattended.pause(this.#policy.ownHostsOf(target).urlPatterns);
    this.#transport.post('Fetch.enable', this.#ownPatterns(target), target.session.id);
  }

  /** Installs our scripts for documents of the hosts that a page reaches, from its next document on. */
  #prepare(target: ProxiedTarget, isNew = false): Preparation {
    const hosts = this.#policy.hostsOf(target);
    const before = this.#preparations.get(target);
    if (before?.hosts === hosts) return before;
    const done = target.isDocument
      ? this.#binding.prepare(target, this.#expressions(target), isNew)
      : Promise.resolve();
    const preparation = { hosts, done, isDone: false };
    void done.then(() => {
      preparation.isDone = true;
    });
    this.#preparations.set(target, preparation);
    return preparation;
  }

  #prepareWorker(session: Session, target: ProxiedTarget): void {
    this.#binding.prepareWorker(session, this.#expressions(target));
  }

  #expressions(target: ProxiedTarget) {
    return { candidates: this.#policy.candidatesOf(target), hosts: this.#policy.hostsOf(target).hostExpressions };
  }

  #ownPatterns(target: ProxiedTarget): Protocol.Fetch.EnableRequest {
    const { urlPatterns } = this.#policy.hostsOf(target);
    return { patterns: urlPatterns.map((urlPattern) => ({ urlPattern, requestStage: 'Request' as const })) };
  }
}

/** The address that a released request goes to. */
function urlOf(paused: PausedRequest, { url }: ContinueFields): string {
  return typeof url === 'string' ? url : paused.url;
}

/** Where a response from the test redirects to; null if it does not. */
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

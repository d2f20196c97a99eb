import type { Protocol } from 'devtools-protocol';
import { setTimeout } from '../../../common/clock.ts';
import { parsedUrl, withoutFragment } from '../../../common/url/parsed-url.ts';
import { type CdpMessage, fieldsOf } from '../../message.ts';
import type { FrameDocument } from '../../model/frames.ts';
import { mainWorldOf } from '../../model/frames.ts';
import { SessionMap } from '../../model/per-session.ts';
import type { NetworkRequest } from '../../model/requests.ts';
import { pageOf, type Session, type Target } from '../../model/session.ts';
import type { InterceptorTransport } from '../../transport/interceptor.ts';
import { byLowerCase } from '../headers/header-list.ts';
import { isFile, originOf } from '../hosts/proxied-hosts.ts';
import { announcedRequest } from '../request/announced-request.ts';
import type { PausedRequest } from '../request/paused-request.ts';
import type { ProxiedTarget } from '../request/proxied-targets.ts';
import { type Initiator, Navigations } from './navigations.ts';
import { addressOf, UNKNOWN, WindowGroups } from './window-groups.ts';

/** Whether an address or origin belongs to a page of this machine, in a browser context that has visited one. */
export type IsOwn = (contextId: string | undefined, address: string) => boolean;

/** How long redirects of closed pages are kept, in ms: the browser follows them at once. */
const LAST_MS = 2_000;

/** A request, followed through its redirects, and its initiator. */
interface Judged {
  /** Null if it was not announced. */
  request: NetworkRequest | null;
  initiator: Initiator;
  /** Where the response made here redirects it to, without fragment. */
  leadsTo?: string;
}

/**
 * Finds out who initiated each request, from what the browser reports: pages cannot influence this, and anything that
 * the browser does not report counts as foreign. The `Origin` and `Referer` of a request show its initiator. Without
 * them, the initiator is the document that makes it; for a navigation, any document that can navigate the frame.
 */
export class Initiators {
  readonly #transport: InterceptorTransport;
  readonly #isOwn: IsOwn;
  readonly #groups: WindowGroups;
  readonly #navigations: Navigations;
  /** By network ID, until the request ends or turns out never to be announced. */
  readonly #judged: SessionMap<string, Promise<Judged>>;
  /** Redirects that were made here, by the ID that the redirected request had in the Fetch domain. */
  readonly #redirects: SessionMap<string, Promise<Judged>>;
  /** Those of pages that have closed just now. */
  readonly #lastRedirects = new Map<string, Promise<Judged>>();

  constructor(transport: InterceptorTransport, isOwn: IsOwn) {
    const { model } = transport;
    this.#transport = transport;
    this.#isOwn = isOwn;
    this.#groups = new WindowGroups(model);
    this.#navigations = new Navigations(model);
    this.#judged = new SessionMap(model);
    this.#redirects = new SessionMap(model);
    model.frames.onDocument((document) => this.#meetDocument(document));
  }

  /**
   * The initiator of a paused request. Must be called for each request that is proxied or that the test redirects: its
   * redirects have the same initiator. Never rejects.
   */
  async of(paused: PausedRequest): Promise<Initiator> {
    const { networkId } = paused;
    if (networkId === undefined || this.#isClosed(paused)) return await this.#ofUnannounced(paused);
    const judged = this.#judge(paused, this.#judged.get(networkId));
    this.#judged.set(networkId, judged, paused.target.session.id);
    const { initiator, request } = await judged;
    const isUnannounced = !request && initiator === 'foreign';
    if (isUnannounced && this.#judged.get(networkId) === judged) this.#judged.delete(networkId);
    return initiator;
  }

  /**
   * A response from the proxy or the test redirects a request: the next request with its ID, to that address, has the
   * same initiator.
   */
  noteRedirect(paused: PausedRequest, location: string): void {
    const { networkId, requestId, url, target } = paused;
    const sessionId = target.session.id;
    const parsed = parsedUrl(location, url);
    if (!parsed) return;
    const leadsTo = withoutFragment(parsed.href);
    const before = networkId === undefined ? undefined : this.#judged.get(networkId);
    const after = async (): Promise<Judged> => {
      const isUnannounced = networkId === undefined || this.#isClosed(paused);
      const { request = null, initiator = isUnannounced ? await this.of(paused) : 'foreign' } = (await before) ?? {};
      return { request, initiator, leadsTo };
    };
    const judged = after();
    if (this.#isClosed(paused)) this.#noteLast(requestId, judged);
    this.#redirects.set(requestId, judged, sessionId);
    if (networkId !== undefined) this.#judged.set(networkId, judged, sessionId);
  }

  /** A new target of the client. @param url its address now */
  begin({ session }: ProxiedTarget, url: string): void {
    const { id, type, openerId } = session.target;
    if (type === 'page') this.#groups.open(id, openerId);
    const page = pageOf(session);
    if (page) this.#groups.add(page.id, addressOf(url));
  }

  /** Takes each command of the runner to a page. */
  observeCommand(command: CdpMessage, target: Target): void {
    if (command.method?.startsWith('Page.')) this.#navigations.observeCommand(command, target);
  }

  /** Takes messages from the browser. */
  observe(message: CdpMessage): void {
    const { id, method, sessionId, params } = message;
    const session = this.#transport.model.session(sessionId);
    if (id !== undefined) this.#navigations.observe(message);
    else if (method === 'Network.loadingFinished' || method === 'Network.loadingFailed') {
      this.#judged.delete(String(fieldsOf<Protocol.Network.LoadingFailedEvent>(params).requestId));
    }
    // A session that a test opens reports all of it again.
    else if (!session?.isClients) return;
    else if (method === 'Network.responseReceived') this.#expectDocument(session, params);
    else if (method === 'Page.navigatedWithinDocument') this.#movedWithin(session, params);
    else this.#navigations.observe(message);
  }

  async #judge(paused: PausedRequest, before?: Promise<Judged>): Promise<Judged> {
    const last = await before;
    if (paused.redirectedFrom === undefined && last?.request?.url === paused.url) {
      return { request: last.request, initiator: last.initiator };
    }
    // Redirects of beacons and of worker scripts are announced late or never.
    if (!paused.isNavigation && last?.leadsTo === paused.url) return { request: null, initiator: last.initiator };
    const request = await announcedRequest(this.#transport, paused, paused.url);
    const initiator = request ? await this.#ofRequest(paused, request, last) : await this.#ofLate(paused);
    const page = pageOf(paused.target.session);
    if (request && paused.isNavigation && page) this.#navigations.note({ ...paused, page }, initiator);
    return { request, initiator };
  }

  /** Its page has closed: the browser announces nothing more of it. */
  #isClosed({ target }: PausedRequest): boolean {
    return this.#transport.model.session(target.session.id) === undefined;
  }

  /** Its page may have closed while its announcement was awaited. */
  async #ofLate(paused: PausedRequest): Promise<Initiator> {
    return this.#isClosed(paused) ? await this.#ofUnannounced(paused) : 'foreign';
  }

  #noteLast(requestId: string, judged: Promise<Judged>): void {
    this.#lastRedirects.set(requestId, judged);
    setTimeout(() => this.#lastRedirects.delete(requestId), LAST_MS).unref();
  }

  /** The browser announces no request of a document that is being left, and no download link. */
  async #ofUnannounced(paused: PausedRequest): Promise<Initiator> {
    const { redirectedFrom, isNavigation, target, url } = paused;
    // A link with a `download` attribute: Chromium treats it as a download only on the link's own origin, including
    // redirects.
    if (isNavigation) return this.#ofNavigation(paused, target);
    // Its window may already show another document: its group proves nothing.
    if (redirectedFrom === undefined) return this.#ofSource(paused, target) ?? 'foreign';
    const before = await (this.#redirects.get(redirectedFrom) ?? this.#lastRedirects.get(redirectedFrom));
    return before?.leadsTo === url ? before.initiator : 'foreign';
  }

  async #ofRequest(paused: PausedRequest, request: NetworkRequest, before: Judged | undefined): Promise<Initiator> {
    const { redirect } = request;
    if (redirect) return redirect.from && before?.request === redirect.from ? before.initiator : 'foreign';
    // It was redirected, and this announces an earlier hop: another server has redirected back to the same address.
    if (before?.leadsTo !== undefined) return 'foreign';
    const { target } = paused;
    if (paused.isNavigation) return this.#ofNavigation(paused, target, request);
    const { origin, referer } = sources(paused, target);
    if (origin !== undefined) return this.#whose(target, origin);
    if (referer !== undefined && this.#whose(target, referer) === 'own') return 'own';
    return (await this.#isOfOwnDocument(request, target)) ? 'own' : 'foreign';
  }

  #ofNavigation(paused: PausedRequest, target: ProxiedTarget, request?: NetworkRequest): Initiator {
    const page = pageOf(target.session);
    if (!page) return 'foreign';
    const navigation = { ...paused, page };
    if (this.#navigations.isTests(navigation)) return 'test';
    const first = request && this.#navigations.before(navigation, request.loaderId);
    return first ?? this.#ofSource(paused, target) ?? (this.#isGroupOwn(page, paused.url) ? 'own' : 'foreign');
  }

  /** Null if no header shows it. */
  #ofSource(paused: PausedRequest, target: ProxiedTarget): Initiator | null {
    const { origin, referer } = sources(paused, target);
    const source = origin ?? referer;
    return source === undefined ? null : this.#whose(target, source);
  }

  /** Whether all documents of a page's window group, past and present, are from this machine. */
  #isGroupOwn({ id, contextId }: Target, url: string): boolean {
    // Only a file's page may navigate a frame to a file: the browser enforces that.
    const leading = [...this.#groups.addresses(id)].filter((address) => !isFile(url) || isFile(address));
    return leading.length > 0 && leading.every((address) => this.#isOwn(contextId, address));
  }

  #whose({ session }: ProxiedTarget, source: string): Initiator {
    return this.#isOwn(session.target.contextId, source) ? 'own' : 'foreign';
  }

  async #isOfOwnDocument(
    { loaderId, frameId, documentUrl, url, type }: NetworkRequest,
    target: ProxiedTarget,
  ): Promise<boolean> {
    if (loaderId === '') {
      // A worker. Its own script has the origin of the document that starts it: the browser enforces that.
      return this.#whose(target, documentUrl) === 'own' && (documentUrl !== url || type === 'Script');
    }
    const document = this.#transport.model.frames.document(loaderId);
    if (document) return await this.#isOwnDocument(document, target);
    // A frame with a `javascript:` address keeps its first, empty document, which the browser does not report.
    const isFirst = documentUrl === 'about:blank' && this.#transport.model.frames.get(frameId) === undefined;
    const world = isFirst ? mainWorldOf(target.session, frameId) : undefined;
    return world !== undefined && this.#whose(target, world.origin) === 'own';
  }

  async #isOwnDocument(document: FrameDocument, target: ProxiedTarget): Promise<boolean> {
    if (document.isUnreachable) return false;
    const { url, frame, session } = document;
    const address = addressOf(url);
    if (address !== null) return this.#whose(target, address) === 'own';
    // Sandboxed or not, its parent wrote it.
    const parent =
      url === 'about:srcdoc' ? this.#transport.model.frames.get(frame.parentId)?.documents.at(-1) : undefined;
    if (parent) return await this.#isOwnDocument(parent, target);
    const origin = await document.origin();
    if (origin === null) return false;
    if (originOf(origin) !== null) return this.#whose(target, origin) === 'own';
    // Its origin is opaque (`data:`, sandboxed): any document in its group may have created it.
    const page = pageOf(session);
    return page !== undefined && document.isPresent && this.#isGroupOwn(page, url);
  }

  /**
   * The browser reports the response before its document can do anything; the document itself is reported separately.
   */
  #expectDocument(session: Session, params: unknown): void {
    const { type, response } = fieldsOf<Protocol.Network.ResponseReceivedEvent>(params);
    const page = type === 'Document' ? pageOf(session) : undefined;
    if (page) this.#groups.add(page.id, addressOf(String(fieldsOf<Protocol.Network.Response>(response).url)));
  }

  #meetDocument(document: FrameDocument): void {
    const { url, frame, session, isUnreachable, isRestored } = document;
    const page = pageOf(session);
    if (!page) return;
    this.#navigations.meetDocument(document, page);
    const address = addressOf(url);
    const isOwn = address !== null && !isUnreachable && this.#isOwn(page.contextId, address);
    if (isOwn && !isRestored && frame.parentId === undefined) this.#groups.restart(page.id);
    this.#groups.add(page.id, isRestored ? UNKNOWN : address);
    if (isOwn) this.#noteOwn(page, document, url);
  }

  #movedWithin(session: Session, params: unknown): void {
    const { frameId, url } = fieldsOf<Protocol.Page.NavigatedWithinDocumentEvent>(params);
    const page = pageOf(session);
    const document = this.#transport.model.frames.get(String(frameId))?.documents.at(-1);
    if (!page || !document || document.isUnreachable) return;
    const isWithinOwn = [document.url, String(url)].every((address) => this.#isOwn(page.contextId, address));
    if (isWithinOwn) this.#noteOwn(page, document, String(url));
  }

  #noteOwn(page: Target, { frame }: FrameDocument, url: string): void {
    this.#navigations.note({ page, frameId: frame.id, method: 'GET', url }, 'own');
  }
}

/**
 * The headers of a request that show where it comes from. Pages cannot forge them; headers set by the test prove
 * nothing.
 */
function sources({ headers }: PausedRequest, { hasOwnOrigin }: ProxiedTarget): { origin?: string; referer?: string } {
  if (hasOwnOrigin) return {};
  const { origin, referer } = byLowerCase(headers);
  return { ...(originOf(origin) !== null && { origin }), ...(referer !== undefined && { referer }) };
}

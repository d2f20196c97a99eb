import type { Protocol } from 'devtools-protocol';
import type { BrowserModel } from '../../model/browser-model.ts';
import { SessionMap } from '../../model/per-session.ts';
import type { Session } from '../../model/session.ts';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';
import type { BridgedSession, BridgedSessions } from '../bridged-sessions.ts';
import { isFile } from '../files/is-file.ts';
import type { PausedRequest } from '../requests/paused-request.ts';
import { type Announced, Announcements } from './announcements.ts';
import { Documents, type FrameDocument } from './documents.ts';
import { originOf, withoutFragment } from './loopback-origin.ts';
import { type Initiator, Navigations } from './navigations.ts';
import { addressOf, UNKNOWN, WindowGroups } from './window-groups.ts';

/** Whether an address, or an origin, is of a place that the test goes to in a browser context. */
export type IsOwn = (contextId: string, address: string) => boolean;

/** One request on its way through redirects. */
interface Hop {
  request: Announced | null;
  initiator: Initiator;
  /** Where the answer that it was handed from here redirects it to, without fragment. */
  leadsTo?: string;
}

/**
 * Who has caused each request, by what the browser reports: pages have no say in it, and what it does not show counts as
 * foreign. A request's `Origin` and `Referer` show its initiator. Without them, that is the document that it is for; and
 * for a navigation, any document that can lead the frame.
 */
export class Initiators {
  readonly #model: BrowserModel;
  readonly #sessions: BridgedSessions;
  readonly #isOwn: IsOwn;
  readonly #requests: Announcements<Promise<Hop>>;
  readonly #documents: Documents;
  readonly #groups = new WindowGroups();
  readonly #navigations = new Navigations();
  /** Navigations of foreign pages that were not carried, by loader. */
  readonly #refused: SessionMap<string, true>;

  constructor(model: BrowserModel, sessions: BridgedSessions, isOwn: IsOwn) {
    this.#model = model;
    this.#sessions = sessions;
    this.#isOwn = isOwn;
    this.#requests = new Announcements(model);
    this.#documents = new Documents(model);
    this.#refused = new SessionMap(model);
    model.onSessionEnd((session) => this.#onEnd(session));
  }

  /**
   * Who has caused a stopped request. To be asked for each one that is carried, or that the test redirects: its redirects
   * have its initiator. Never rejects.
   */
  async of(paused: PausedRequest, session: BridgedSession): Promise<Initiator> {
    const { networkId } = paused;
    // A link with a `download` attribute: Chromium takes it for one on the link's own origin only, redirects included.
    if (networkId === undefined) return paused.isNavigation ? this.#ofNavigation(paused, session) : 'foreign';
    const hop = this.#requests.note(networkId, (before) => this.#hop(networkId, paused, session, before));
    return (await hop).initiator;
  }

  /** An answer of the bridge's or the test's redirects a request: what comes next under its ID, at that address, has its initiator. */
  noteRedirect({ networkId, url }: PausedRequest, location: string): void {
    if (networkId === undefined || !URL.canParse(location, url)) return;
    const leadsTo = withoutFragment(new URL(location, url).href);
    void this.#requests.note(networkId, async (before) => {
      const { request = null, initiator = 'foreign' } = (await before) ?? {};
      return { request, initiator, leadsTo };
    });
  }

  /** Takes each command of the runner's to a page. */
  observeCommand(command: CdpMessage): void {
    const { method, sessionId } = command;
    if (sessionId === undefined || !method?.startsWith('Page.')) return;
    const target = this.#sessions.targetOf(sessionId);
    if (target) this.#navigations.observeCommand(command, target.targetId);
  }

  /** Takes the browser's messages, while the sessions that they are about are known. */
  observe(message: CdpMessage): void {
    const { id, method, sessionId = '', params } = message;
    if (id !== undefined) this.#navigations.observe(message);
    else if (method === 'Target.attachedToTarget') this.#meet(sessionId, params);
    // A test's own session reports all of it again.
    else if (this.#sessions.get(sessionId) === undefined) return;
    else if (method === 'Network.responseReceived') this.#expectDocument(sessionId, params);
    else if (method === 'Page.navigatedWithinDocument') this.#movedWithin(sessionId, params);
    else if (method?.startsWith('Page.') || method?.startsWith('Runtime.executionContext')) {
      if (method === 'Page.frameNavigated') this.#commit(sessionId, params);
      this.#navigations.observe(message);
      this.#documents.observe(message);
    }
  }

  /** Takes the browser's `Network.*` events of requests: needed from when there is a place that the test goes to. */
  observeRequest(message: CdpMessage): void {
    this.#requests.observe(message);
    if (message.method !== 'Network.loadingFailed') return;
    this.#refused.delete(String(fieldsOf<Protocol.Network.LoadingFailedEvent>(message.params).requestId));
  }

  async #hop(id: string, paused: PausedRequest, session: BridgedSession, before?: Promise<Hop>): Promise<Hop> {
    const last = await before;
    if (!paused.isRedirected && last?.request?.url === paused.url) {
      return { request: last.request, initiator: last.initiator };
    }
    // Redirects of beacons and of workers' scripts are announced late, or never.
    if (!paused.isNavigation && last?.leadsTo === paused.url) return { request: null, initiator: last.initiator };
    const request = await this.#requests.of(id, paused.url);
    const initiator = request ? await this.#ofRequest(paused, session, request, last) : 'foreign';
    const page = this.#pageOf(paused.sessionId);
    if (request && paused.isNavigation && page) {
      this.#navigations.note({ ...paused, page: page.targetId }, initiator);
      if (initiator === 'foreign') this.#refused.set(request.loaderId, true, paused.sessionId);
    }
    return { request, initiator };
  }

  async #ofRequest(
    paused: PausedRequest,
    session: BridgedSession,
    request: Announced,
    before: Hop | undefined,
  ): Promise<Initiator> {
    const { redirectedFrom } = request;
    if (redirectedFrom) return before?.request === redirectedFrom ? before.initiator : 'foreign';
    // It was redirected, and this announcement is of an earlier hop: another server has led back to the same address.
    if (before?.leadsTo !== undefined) return 'foreign';
    if (paused.isNavigation) return this.#ofNavigation(paused, session, request);
    const { origin, referer } = sources(paused, session);
    if (origin !== undefined) return this.#whose(session, origin);
    if (referer !== undefined && this.#isOwn(session.contextId, referer)) return 'own';
    return (await this.#isOfOwnDocument(request, session)) ? 'own' : 'foreign';
  }

  #ofNavigation(paused: PausedRequest, session: BridgedSession, request?: Announced): Initiator {
    const page = this.#pageOf(paused.sessionId)?.targetId;
    if (page === undefined) return 'foreign';
    const navigation = { ...paused, page };
    if (this.#navigations.isTests(navigation)) return 'test';
    const first = request && this.#navigations.before(navigation, request.loaderId);
    if (first) return first;
    const { origin, referer } = sources(paused, session);
    const source = origin ?? referer;
    if (source !== undefined) return this.#whose(session, source);
    return this.#isGroupOwn(page, session, paused.url) ? 'own' : 'foreign';
  }

  /** Whether all documents that a page shares its windows with, or has shared, are of places that the test goes to. */
  #isGroupOwn(page: string, { contextId }: BridgedSession, url: string): boolean {
    // No page but a file's may lead a frame to a file: the browser sees to that.
    const leading = [...this.#groups.addresses(page)].filter((address) => !isFile(url) || isFile(address));
    return leading.length > 0 && leading.every((address) => this.#isOwn(contextId, address));
  }

  #whose({ contextId }: BridgedSession, source: string): Initiator {
    return this.#isOwn(contextId, source) ? 'own' : 'foreign';
  }

  async #isOfOwnDocument({ loaderId, documentUrl, url, type }: Announced, session: BridgedSession): Promise<boolean> {
    if (loaderId === '') {
      // A worker. Its own script is of the origin of who starts it: the browser sees to that.
      return this.#isOwn(session.contextId, documentUrl) && (documentUrl !== url || type === 'Script');
    }
    const document = this.#documents.loadedBy(loaderId);
    return document !== undefined && (await this.#isOwnDocument(document, session));
  }

  async #isOwnDocument(document: FrameDocument, session: BridgedSession): Promise<boolean> {
    if (document.isError) return false;
    const address = addressOf(document.url);
    if (address !== null) return this.#isOwn(session.contextId, address);
    // Sandboxed or not, its parent has written it.
    const parent = document.url === 'about:srcdoc' ? this.#documents.inFrame(document.parentId) : undefined;
    if (parent) return await this.#isOwnDocument(parent, session);
    const origin = await this.#documents.originOf(document);
    if (origin === null || originOf(origin) !== null) return origin !== null && this.#isOwn(session.contextId, origin);
    // Its origin equals no other (`data:`, sandboxed): any document near it may have made it.
    const page = this.#pageOf(document.sessionId);
    const isPresent = this.#documents.inFrame(document.frameId) === document;
    return page !== undefined && isPresent && this.#isGroupOwn(page.targetId, session, document.url);
  }

  #meet(over: string, params: unknown): void {
    const { targetInfo } = fieldsOf<Protocol.Target.AttachedToTargetEvent>(params);
    const { type, targetId, openerId, url } = fieldsOf<Protocol.Target.TargetInfo>(targetInfo);
    const address = addressOf(String(url));
    if (type === 'page') {
      this.#groups.open(String(targetId), typeof openerId === 'string' ? openerId : undefined);
      this.#groups.add(String(targetId), address);
    }
    const page = type === 'iframe' ? this.#pageOf(over) : undefined;
    if (page) this.#groups.add(page.targetId, address);
  }

  #onEnd({ id }: Session): void {
    const session = this.#sessions.get(id);
    if (!session?.isDocument || this.#pageOf(id) !== session) return;
    this.#navigations.forget(session.targetId);
    this.#groups.close(session.targetId);
  }

  /** The browser reports the answer before its document can do anything; the document comes by another way. */
  #expectDocument(sessionId: string, params: unknown): void {
    const { type, response } = fieldsOf<Protocol.Network.ResponseReceivedEvent>(params);
    if (type !== 'Document') return;
    const { url } = fieldsOf<Protocol.Network.Response>(response);
    const page = this.#pageOf(sessionId);
    if (page) this.#groups.add(page.targetId, addressOf(String(url)));
  }

  #commit(sessionId: string, params: unknown): void {
    const { frame, type } = fieldsOf<Protocol.Page.FrameNavigatedEvent>(params);
    const { loaderId } = fieldsOf<Protocol.Page.Frame>(frame);
    const isRefused = this.#refused.delete(String(loaderId));
    const document = this.#documents.commit(sessionId, frame, isRefused);
    const page = this.#pageOf(sessionId);
    if (!document || !page) return;
    const address = addressOf(document.url);
    const isOwn = address !== null && !document.isError && this.#isOwn(page.contextId, address);
    // The frames of a document that comes back are not reported.
    const isBack = type === 'BackForwardCacheRestore';
    if (isOwn && !isBack && document.parentId === undefined) this.#groups.restart(page.targetId);
    this.#groups.add(page.targetId, isRefused || isBack ? UNKNOWN : address);
    if (isOwn) this.#noteOwn(page, document, document.url);
  }

  #movedWithin(sessionId: string, params: unknown): void {
    const { frameId, url } = fieldsOf<Protocol.Page.NavigatedWithinDocumentEvent>(params);
    const page = this.#pageOf(sessionId);
    const document = this.#documents.inFrame(String(frameId));
    const isOwn = page && document && !document.isError && this.#isOwn(page.contextId, document.url);
    if (isOwn && this.#isOwn(page.contextId, String(url))) this.#noteOwn(page, document, String(url));
  }

  #noteOwn({ targetId: page }: BridgedSession, { frameId }: FrameDocument, url: string): void {
    this.#navigations.note({ page, frameId, method: 'GET', url }, 'own');
  }

  /** The page that a session belongs to. */
  #pageOf(sessionId: string): BridgedSession | undefined {
    let session = this.#model.session(sessionId);
    while (session?.parent && this.#sessions.get(session.parent.id)) session = session.parent;
    const page = session && this.#sessions.get(session.id);
    return page?.isDocument ? page : undefined;
  }
}

/** What a request shows of where it comes from, which no page can forge. The test's own headers show nothing. */
function sources({ headers }: PausedRequest, { hasOwnOrigin }: BridgedSession): { origin?: string; referer?: string } {
  if (hasOwnOrigin) return {};
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const [origin, referer] = [byName.get('origin'), byName.get('referer')];
  return { ...(originOf(origin) !== null && { origin }), ...(referer !== undefined && { referer }) } as {
    origin?: string;
    referer?: string;
  };
}

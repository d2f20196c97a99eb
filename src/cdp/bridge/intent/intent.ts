import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';
import type { BridgedHosts } from '../bridged-hosts.ts';
import type { BridgedSession, BridgedSessions } from '../bridged-sessions.ts';
import { isFile } from '../files/is-file.ts';
import type { PausedRequest } from '../requests/paused-request.ts';
import { type Announced, Announcements } from './announcements.ts';
import { carriedHosts } from './carried-hosts.ts';
import { type FrameDocument, FrameDocuments } from './frame-documents.ts';
import { IntendedPlaces, placeOf } from './intended-places.ts';
import { originOf } from './loopback-origin.ts';
import { openedTogether, pageOf } from './opened-together.ts';
import type { Reach } from './reach.ts';
import { RunnerNavigations } from './runner-navigations.ts';

/** Where the runner goes, and from where. */
export interface Wish {
  sessionId: string;
  contextId: string;
  /** An origin, or the folder of a `file:` page. */
  place: string;
}

/** What an intent tells. */
export interface IntentEvents {
  /** Of each origin, or folder of a `file:` page, that the runner goes to, once in each browser context. */
  onPlace(place: string): void;
  /** Of each address there that a page has asked for which is not from such a place. */
  onDenied?(url: string): void;
}

/** Whether a frame has a document of a reached host, by what the browser tells of its scripts' world. */
export type HasReachedDocument = (sessionId: string, frameId: string) => Promise<boolean>;

/**
 * Carries what the test itself goes to: an origin on this machine's loopback, or a `file:` page's folder, to which the
 * runner navigates, from then on, in that browser context, for pages that come from such places. What any other page asks for there, leads to, or redirects to, is
 * not carried. Whose a request is, is what the browser tells: no page has a say in it.
 */
export class Intent implements Reach {
  readonly #listed: BridgedHosts;
  readonly #sessions: BridgedSessions;
  readonly #told: IntentEvents;
  readonly #frames = new FrameDocuments();
  readonly #navigations = new RunnerNavigations();
  readonly #announcements = new Announcements();
  /** By browser context. */
  readonly #places = new Map<string, IntendedPlaces>();
  /** Whether the last request under a network ID was carried: its redirects are judged by that. */
  readonly #carried = new Map<string, boolean>();
  #hasReachedDocument: HasReachedDocument = async () => false;

  /**
   * @param listed hosts that every page reaches
   */
  constructor(listed: BridgedHosts, sessions: BridgedSessions, told: IntentEvents) {
    this.#listed = listed;
    this.#sessions = sessions;
    this.#told = told;
  }

  /** Empty documents have the origin of whoever made them; who asks for their worlds knows it. */
  set hasReachedDocument(ask: HasReachedDocument) {
    this.#hasReachedDocument = ask;
  }

  hostsOf(contextId: string): BridgedHosts {
    return carriedHosts(this.#listed, this.#places.get(contextId));
  }

  /** Whether an address is carried in any context. */
  carriesAnywhere(url: string): boolean {
    return this.#listed.matches(url) || [...this.#places.values()].some((places) => places.has(url));
  }

  /** What a command of the runner's goes to that is not listed; null for every other command. */
  wishOf({ method, sessionId, params }: CdpMessage): Wish | null {
    if (method !== 'Page.navigate' || sessionId === undefined) return null;
    const { url } = fieldsOf<Protocol.Page.NavigateRequest>(params);
    const place = placeOf(url);
    const target = this.#sessions.targetOf(sessionId);
    if (place === null || !target || this.#listed.matches(String(url))) return null;
    return { sessionId, contextId: target.contextId, place };
  }

  /** From now on this place is carried there. Returns whether it was not before. */
  carry({ contextId, place }: Wish): boolean {
    const places = this.#places.get(contextId) ?? new IntendedPlaces();
    this.#places.set(contextId, places);
    if (!places.add(place)) return false;
    this.#told.onPlace(place);
    return true;
  }

  /** To be told of the runner's commands. */
  observeCommand(command: CdpMessage): void {
    const { method, sessionId, params } = command;
    if (method === 'Target.disposeBrowserContext') {
      const { browserContextId } = fieldsOf<Protocol.Target.DisposeBrowserContextRequest>(params);
      this.#places.delete(String(browserContextId));
    }
    if (sessionId === undefined || !method?.startsWith('Page.')) return;
    const target = this.#sessions.targetOf(sessionId);
    if (!target) return;
    const document = this.#frames.inFrame(target.targetId);
    this.#navigations.command(command, { sessionId, mainFrameId: target.targetId, document });
  }

  /** To be told of the browser's messages, before anybody forgets the sessions that they are about. */
  observe(message: CdpMessage): void {
    const { id, method, sessionId = '' } = message;
    if (method === 'Target.detachedFromTarget') {
      const { sessionId: gone } = fieldsOf<Protocol.Target.DetachedFromTargetEvent>(message.params);
      const page = this.#sessions.get(String(gone));
      if (page) this.#navigations.forget(String(gone), page.targetId);
      this.#announcements.forget(String(gone));
    }
    if (this.#places.size > 0 && method?.startsWith('Network.')) {
      this.#announcements.observe(message);
      const { requestId } = fieldsOf<Protocol.Network.LoadingFinishedEvent>(message.params);
      if (/^Network\.loadingF/.test(method)) this.#carried.delete(String(requestId));
    }
    // A test's own session tells all of it again.
    const isPages = method?.startsWith('Page.') && this.#sessions.get(sessionId) !== undefined;
    if (isPages || method === 'Target.detachedFromTarget') this.#frames.observe(message);
    const page = isPages || id !== undefined ? this.#sessions.targetOf(sessionId) : undefined;
    if (page) this.#navigations.observe(message, page.targetId);
  }

  async allows(paused: PausedRequest, session: BridgedSession): Promise<boolean> {
    const { url, networkId } = paused;
    if (this.#listed.matches(url)) return true;
    const places = this.#places.get(session.contextId);
    if (!places?.has(url) || networkId === undefined) return false;
    const announced = await this.#announcements.of(networkId, url);
    const isAllowed = announced !== null && (await this.#isOfCarried(paused, session, announced, places));
    this.#carried.set(networkId, isAllowed);
    if (!isAllowed) this.#told.onDenied?.(url);
    return isAllowed;
  }

  async #isOfCarried(
    paused: PausedRequest,
    session: BridgedSession,
    announced: Announced,
    places: IntendedPlaces,
  ): Promise<boolean> {
    if (announced.redirectedFrom !== null) {
      return places.has(announced.redirectedFrom) && this.#carried.get(String(paused.networkId)) === true;
    }
    // What the test itself writes there says nothing about who asks.
    const { origin, referer } = session.hasOwnOrigin ? {} : sourceHeaders(paused);
    if (origin !== undefined && originOf(origin) !== null) return places.origins.has(origin);
    const isReferred = referer !== undefined && places.has(referer);
    if (paused.isNavigation) {
      if (this.#navigations.expects(paused.frameId, paused)) return true;
      return referer === undefined ? this.#isAmongItsOwn(paused, places) : isReferred;
    }
    return isReferred || (await this.#isOfCarriedDocument(announced, places));
  }

  /** Who leads a frame somewhere is not told where a page tells no referrer: nobody foreign may be able to. */
  #isAmongItsOwn({ sessionId, frameId, url }: PausedRequest, places: IntendedPlaces): boolean {
    const page = pageOf(sessionId, this.#sessions);
    if (!page) return false;
    const documents = openedTogether(page, this.#sessions, this.#frames);
    const isOwn = (document: FrameDocument) => comesFrom(document, places);
    // No page but a file's may lead anybody to a file: the browser sees to that.
    const isForeign = (document: FrameDocument) => !isOwn(document) && !isNobody(document);
    if (!isFile(url) && documents.some(isForeign)) return false;
    const present = this.#frames.inFrame(frameId);
    // A new page, or frame, goes where the one that made it has said.
    return present && !isNobody(present) ? isOwn(present) : documents.some(isOwn);
  }

  async #isOfCarriedDocument(announced: Announced, places: IntendedPlaces): Promise<boolean> {
    const { loaderId, documentUrl, url, type } = announced;
    if (loaderId === '') {
      // A worker. Its own script is of the origin of who starts it: the browser sees to that.
      return places.has(documentUrl) && (documentUrl !== url || type === 'Script');
    }
    const document = this.#frames.loadedBy(loaderId);
    if (!document) return false;
    if (document.url === 'about:srcdoc') return this.#isOfCarriedParent(document, places);
    if (!isNobody(document)) return comesFrom(document, places);
    return await this.#hasReachedDocument(document.sessionId, document.frameId);
  }

  #isOfCarriedParent({ parentId }: FrameDocument, places: IntendedPlaces): boolean {
    const parent = this.#frames.inFrame(parentId);
    if (!parent) return false;
    return parent.url === 'about:srcdoc' ? this.#isOfCarriedParent(parent, places) : comesFrom(parent, places);
  }
}

/** Whether a document is from one of these places, and not the browser's own about an error there. */
function comesFrom({ url, isError }: FrameDocument, places: IntendedPlaces): boolean {
  return !isError && places.has(url);
}

/** Empty, or the browser's own page about an error: leads nobody anywhere by itself. */
function isNobody({ url, isError }: FrameDocument): boolean {
  return isError || url.startsWith('about:');
}

/** What a request says of where it comes from, which no page can forge. */
function sourceHeaders({ headers }: PausedRequest): { origin?: string; referer?: string } {
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const [origin, referer] = [byName.get('origin'), byName.get('referer')];
  return { ...(origin !== undefined && { origin }), ...(referer !== undefined && { referer }) };
}

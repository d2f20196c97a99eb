import type { Protocol } from 'devtools-protocol';
import type { BrowserModel } from '../../model/browser-model.ts';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';
import type { BridgedHosts } from '../bridged-hosts.ts';
import type { BridgedSession, BridgedSessions } from '../bridged-sessions.ts';
import type { PausedRequest } from '../requests/paused-request.ts';
import { carriedHosts } from './carried-hosts.ts';
import { Initiators } from './initiators.ts';
import { IntendedPlaces, placeOf } from './intended-places.ts';
import type { Reach } from './reach.ts';

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

/**
 * Carries what the test itself goes to: an origin on this machine's loopback, or a `file:` page's folder, to which the
 * runner navigates, from then on, in that browser context, for pages that come from such places. What any other page
 * requests there, leads to, or redirects to, is not carried ({@link Initiators}).
 */
export class Intent implements Reach {
  readonly #listed: BridgedHosts;
  readonly #sessions: BridgedSessions;
  readonly #told: IntentEvents;
  readonly #initiators: Initiators;
  /** By browser context. */
  readonly #places = new Map<string, IntendedPlaces>();

  /**
   * @param listed hosts that every page reaches
   */
  constructor(model: BrowserModel, listed: BridgedHosts, sessions: BridgedSessions, told: IntentEvents) {
    this.#listed = listed;
    this.#sessions = sessions;
    this.#told = told;
    this.#initiators = new Initiators(
      model,
      sessions,
      (contextId, url) => this.#places.get(contextId)?.has(url) === true,
    );
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

  /** Takes the runner's commands. */
  observeCommand(command: CdpMessage): void {
    if (command.method === 'Target.disposeBrowserContext') {
      const { browserContextId } = fieldsOf<Protocol.Target.DisposeBrowserContextRequest>(command.params);
      this.#places.delete(String(browserContextId));
    }
    this.#initiators.observeCommand(command);
  }

  /** Takes the browser's messages, before the sessions that they are about are forgotten. */
  observe(message: CdpMessage): void {
    this.#initiators.observe(message);
    if (this.#places.size > 0 && message.method?.startsWith('Network.')) this.#initiators.observeRequest(message);
  }

  async allows(paused: PausedRequest, session: BridgedSession, url: string): Promise<boolean> {
    const places = this.#places.get(session.contextId);
    if (this.#listed.matches(url)) {
      // It may redirect to a place that the test goes to.
      if (places) void this.#initiators.of(paused, session);
      return true;
    }
    if (!places?.has(url)) return false;
    const isAllowed = (await this.#initiators.of(paused, session)) !== 'foreign';
    // Of a page that is gone, nobody misses it.
    if (!isAllowed && this.#sessions.get(paused.sessionId)) this.#told.onDenied?.(url);
    return isAllowed;
  }

  /** The test has a redirect for a request: what follows is the test's if the request was its own, or of its pages. */
  noteRedirected(paused: PausedRequest, session: BridgedSession, location: string): void {
    if (!this.#places.has(session.contextId)) return;
    void this.#initiators.of(paused, session);
    this.#initiators.noteRedirect(paused, location);
  }

  noteCarriedRedirect(paused: PausedRequest, location: string): void {
    this.#initiators.noteRedirect(paused, location);
  }
}

import type { Protocol } from 'devtools-protocol';
import type { BrowserModel } from '../../model/browser-model.ts';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';
import type { ProxiedHosts } from '../proxied-hosts.ts';
import type { ProxiedTarget, ProxiedTargets } from '../proxied-targets.ts';
import type { PausedRequest } from '../proxy/paused-request.ts';
import { Initiators } from './initiators.ts';
import { placeOf, VisitedPlaces } from './visited-places.ts';

/** A visit of the runner: where it goes, and in which page or frame. */
export interface Visit {
  target: ProxiedTarget;
  /** An origin, or the directory of a `file:` page. */
  place: string;
}

/** Callbacks of a policy that lets pages reach what the test visits. */
export interface PolicyEvents {
  /** Called once per browser context for each origin, or directory of a `file:` page, that the runner visits. */
  onPlace(place: string): void;
  /** Called for each address there that another page has requested without permission. */
  onDenied?(url: string): void;
}

/** Any loopback host, and some others, as an expression for `host:port`. */
const LOOPBACK = '^(([^:]+\\.)?localhost\\.?|[0-9.]+|\\[[0-9a-f:]+\\]):\\d+$';
/** Matches all `file:` addresses. */
const ALL_FILES = 'file:///*';

/**
 * Decides what pages reach through this machine. Every page reaches listed hosts. A place that the test itself visits
 * (a loopback origin of this machine, or the directory of a `file:` page) is reachable from then on, in that browser
 * context, for pages from such places. Requests, navigations and redirects that any other page initiates there are
 * denied ({@link Initiators}).
 */
export class NetworkPolicy {
  readonly #listed: ProxiedHosts;
  readonly #targets: ProxiedTargets;
  readonly #events: PolicyEvents | undefined;
  readonly #initiators: Initiators | undefined;
  readonly #hasFiles: boolean;
  /** By browser context. */
  readonly #places = new Map<string | undefined, VisitedPlaces>();

  /**
   * @param events without them, only listed hosts are reachable
   * @param hasFiles whether visits of files count
   */
  constructor(
    model: BrowserModel,
    listed: ProxiedHosts,
    targets: ProxiedTargets,
    events?: PolicyEvents,
    hasFiles = true,
  ) {
    this.#hasFiles = hasFiles;
    this.#listed = listed;
    this.#targets = targets;
    this.#events = events;
    const isOwn = (contextId: string | undefined, url: string) => this.#places.get(contextId)?.has(url) === true;
    if (events) this.#initiators = new Initiators(model, isOwn);
  }

  /** The hosts that pages of a target's browser context may reach; {@link allows} judges each request to them. */
  hostsOf({ session }: ProxiedTarget): ProxiedHosts {
    const places = this.#places.get(session.target.contextId);
    if (!places) return this.#listed;
    const { origins } = places;
    return {
      matches: (url) => this.#listed.matches(url) || places.has(url),
      urlPatterns: [
        ...this.#listed.urlPatterns,
        ...origins.flatMap((origin) => [`${origin}/*`, `${origin.replace('//', '//*@')}/*`]),
        ...(places.directories.length > 0 ? [ALL_FILES] : []),
      ],
      hostExpressions: [...this.#listed.hostExpressions, ...origins.map(hostExpression)],
    };
  }

  /** Hosts that pages may come to reach, as regular expressions for `host:port`: more than they reach now. */
  get candidates(): string[] {
    return [...this.#listed.hostExpressions, ...(this.#events ? [LOOPBACK] : [])];
  }

  /** Whether an address is reachable in any context. */
  reachesAnywhere(url: string): boolean {
    return this.#listed.matches(url) || [...this.#places.values()].some((places) => places.has(url));
  }

  /**
   * Returns the visit if a command of the runner goes to a place that its context could not reach so far; it can from
   * now on. Null for all other commands.
   */
  visit({ method, sessionId, params }: CdpMessage): Visit | null {
    if (!this.#events || method !== 'Page.navigate') return null;
    const { url } = fieldsOf<Protocol.Page.NavigateRequest>(params);
    const target = this.#targets.of(sessionId);
    const place = placeOf(url);
    if (
      place === null ||
      (place.startsWith('file:') && !this.#hasFiles) ||
      !target ||
      this.#listed.matches(String(url))
    )
      return null;
    const { contextId } = target.session.target;
    const places = this.#places.get(contextId) ?? new VisitedPlaces();
    this.#places.set(contextId, places);
    if (!places.add(place)) return null;
    this.#events.onPlace(place);
    return { target, place };
  }

  /** A new target, which waits for the debugger. @param url its address now */
  begin(target: ProxiedTarget, url: string): void {
    this.#initiators?.begin(target, url);
  }

  /** Takes the runner's commands. */
  observeCommand(command: CdpMessage): void {
    if (command.method === 'Target.disposeBrowserContext') {
      const { browserContextId } = fieldsOf<Protocol.Target.DisposeBrowserContextRequest>(command.params);
      this.#places.delete(String(browserContextId));
    }
    const target = this.#targets.of(command.sessionId)?.session.target;
    if (target) this.#initiators?.observeCommand(command, target);
  }

  /** Takes messages from the browser. */
  observe(message: CdpMessage): void {
    this.#initiators?.observe(message);
  }

  /**
   * Whether a paused request is proxied to one of these hosts. Never rejects.
   * @param url where the request goes: the test may send it elsewhere than the page asked
   */
  async allows(paused: PausedRequest, url: string): Promise<boolean> {
    const places = this.#placesFor(paused);
    if (this.#listed.matches(url)) {
      // It may redirect to a place that the test visits.
      if (places) void this.#initiators?.of(paused);
      return true;
    }
    if (!places?.has(url) || !this.#initiators) return false;
    const isAllowed = (await this.#initiators.of(paused)) !== 'foreign';
    // The request of a closed page needs no report.
    if (!isAllowed && this.#targets.get(paused.sessionId)) this.#events?.onDenied?.(url);
    return isAllowed;
  }

  /** The test redirects a paused request: the next request has the same initiator. */
  noteRedirected(paused: PausedRequest, location: string): void {
    if (!this.#placesFor(paused)) return;
    void this.#initiators?.of(paused);
    this.#initiators?.noteRedirect(paused, location);
  }

  /** The response to a proxied request is a redirect; the browser does not have it yet. */
  noteProxiedRedirect(paused: PausedRequest, location: string): void {
    this.#initiators?.noteRedirect(paused, location);
  }

  #placesFor({ target }: PausedRequest): VisitedPlaces | undefined {
    return this.#places.get(target.session.target.contextId);
  }
}

function hostExpression(origin: string): string {
  const { hostname, port, protocol } = new URL(origin);
  return `^${`${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`.replace(/[.[\]]/g, '\\$&')}$`;
}

import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../../message.ts';
import type { InterceptorTransport } from '../../transport/interceptor.ts';
import { LOOPBACK, originOf, type ProxiedHosts } from '../hosts/proxied-hosts.ts';
import type { PausedRequest } from '../request/paused-request.ts';
import type { ProxiedTarget, ProxiedTargets } from '../request/proxied-targets.ts';
import type { ContextProxies } from '../send/context-proxy/context-proxies.ts';
import type { ContextProxy } from '../send/context-proxy/context-proxy.ts';
import { Initiators } from './initiators.ts';
import { VisitedOrigins, visitedOriginOf } from './visited-origins.ts';

/** Callbacks of a policy that lets the pages that a test visits reach this machine. */
export interface PolicyEvents {
  /** Called once per browser context for each origin, or directory of a `file:` page, that the test visits. */
  onVisit(origin: string): void;
  /** Called for each address on this machine that another page has requested without permission. */
  onDenied?(url: string): void;
}

interface PolicyParts {
  targets: ProxiedTargets;
  /** What every page reaches. */
  listed: ProxiedHosts;
  proxies: ContextProxies;
  /** Without them, visits change nothing. */
  events: PolicyEvents | undefined;
  /** Whether visits of files count. */
  hasFiles: boolean;
}

/** What a browser context reaches. */
interface Reach {
  visited: VisitedOrigins;
  hosts: ProxiedHosts;
}

/** Matches all `file:` addresses. */
const ALL_FILES = 'file:///*';

/**
 * Decides what pages reach through this machine. Every page reaches listed hosts. A test that visits a page of this
 * machine (of a server on loopback, or a `file:` page) trusts it: from then on, in that browser context, pages from
 * loopback and from the directories of such files reach every server on loopback, and files in these directories.
 * Requests, navigations and redirects there that any other page initiates are denied ({@link Initiators}).
 */
export class NetworkPolicy {
  readonly #listed: ProxiedHosts;
  readonly #proxies: ContextProxies;
  /** What contexts reach whose proxy is on this machine. */
  readonly #together = new WeakMap<ContextProxy, { own: ProxiedHosts; hosts: ProxiedHosts }>();
  readonly #targets: ProxiedTargets;
  readonly #events: PolicyEvents | undefined;
  readonly #initiators: Initiators | undefined;
  readonly #hasFiles: boolean;
  /** By browser context. */
  readonly #reaches = new Map<string | undefined, Reach>();

  constructor(transport: InterceptorTransport, { targets, listed, proxies, events, hasFiles }: PolicyParts) {
    this.#hasFiles = hasFiles;
    this.#listed = listed;
    this.#proxies = proxies;
    this.#targets = targets;
    this.#events = events;
    const isOwn = (contextId: string | undefined, url: string) => {
      const reach = this.#reaches.get(contextId);
      return reach !== undefined && (LOOPBACK.matches(originOf(url) ?? '') || reach.visited.has(url));
    };
    if (events) this.#initiators = new Initiators(transport, isOwn);
  }

  /** The hosts that pages of a target's browser context may reach; {@link allows} judges each request to them. */
  hostsOf(target: ProxiedTarget): ProxiedHosts {
    const own = this.ownHostsOf(target);
    const proxy = this.#proxies.of(target.session.target.contextId);
    if (!proxy?.hosts) return own;
    const before = this.#together.get(proxy);
    if (before?.own === own) return before.hosts;
    const hosts = union([own, proxy.hosts]);
    this.#together.set(proxy, { own, hosts });
    return hosts;
  }

  /** Those of them that are not reached through the context's proxy only. */
  ownHostsOf({ session }: ProxiedTarget): ProxiedHosts {
    return this.#reaches.get(session.target.contextId)?.hosts ?? this.#listed;
  }

  /** Whether a document or worker of an origin may open a WebSocket to an address. */
  mayConnect(target: ProxiedTarget, origin: string, url: string): boolean {
    const own = this.ownHostsOf(target);
    // A page from elsewhere that is reached through the context's proxy reaches nothing but that.
    if (!own.matches(url)) return this.hostsOf(target).matches(url);
    return originOf(origin) === null ? this.#listed.matches(url) : own.matches(origin);
  }

  /** Whether there are hosts that every page reaches. */
  get listsHosts(): boolean {
    return this.#listed.hostExpressions.length > 0;
  }

  /** Hosts that pages may come to reach, as regular expressions for `host:port`: more than they reach now. */
  candidatesOf({ session }: ProxiedTarget): string[] {
    const throughProxy = this.#proxies.of(session.target.contextId)?.hosts?.hostExpressions ?? [];
    return [...this.#listed.hostExpressions, ...(this.#events ? LOOPBACK.hostExpressions : []), ...throughProxy];
  }

  /** Whether an address is reachable in any context. */
  reachesAnywhere(url: string): boolean {
    const isOwn = this.#listed.matches(url) || [...this.#reaches.values()].some(({ hosts }) => hosts.matches(url));
    return isOwn || this.#proxies.reach(url);
  }

  /**
   * Returns the page in which a command of the runner visits this machine, which its context reaches from now on. Null
   * for all other commands.
   */
  visit({ method, sessionId, params }: CdpMessage): ProxiedTarget | null {
    if (!this.#events || method !== 'Page.navigate') return null;
    const { url } = fieldsOf<Protocol.Page.NavigateRequest>(params);
    const target = this.#targets.of(sessionId);
    const origin = visitedOriginOf(url);
    const isFile = origin?.startsWith('file:') === true;
    if (
      origin === null ||
      !target ||
      (isFile ? !this.#hasFiles || this.#listed.matches(String(url)) : this.#listsLoopback)
    )
      return null;
    const { contextId } = target.session.target;
    const before = this.#reaches.get(contextId);
    const { visited } = before ?? { visited: new VisitedOrigins() };
    const isNew = this.#note(visited, origin);
    if (!before || (isNew && isFile)) this.#reaches.set(contextId, { visited, hosts: this.#hostsWith(visited) });
    return target;
  }

  /** A new target, which waits for the debugger. @param url its address now */
  begin(target: ProxiedTarget, url: string): void {
    this.#initiators?.begin(target, url);
  }

  /** Takes the runner's commands. */
  observeCommand(command: CdpMessage): void {
    if (command.method === 'Target.disposeBrowserContext') {
      const { browserContextId } = fieldsOf<Protocol.Target.DisposeBrowserContextRequest>(command.params);
      this.#reaches.delete(String(browserContextId));
    }
    const target = this.#targets.of(command.sessionId)?.session.target;
    if (target) this.#initiators?.observeCommand(command, target);
  }

  /** Takes messages from the browser. */
  observe(message: CdpMessage): void {
    this.#initiators?.observe(message);
  }

  /**
   * Whether a paused request to one of these hosts is proxied; a denied one must fail. Never rejects.
   * @param url where the request goes: the test may send it elsewhere than the page asked
   */
  async allows(paused: PausedRequest, url: string): Promise<boolean> {
    // Through the context's proxy, which the test has named. Its redirects are its own: they are not followed up.
    if (!this.ownHostsOf(paused.target).matches(url)) return true;
    const visited = this.#visitedFor(paused);
    if (this.#listed.matches(url)) {
      // It may redirect to a server that is not listed.
      if (visited) void this.#initiators?.of(paused);
      return true;
    }
    if (!visited || !this.#initiators) return false;
    const isAllowed = (await this.#initiators.of(paused)) !== 'foreign';
    if (isAllowed) this.#note(visited, originOf(url));
    // The request of a closed page needs no report.
    else if (this.#targets.get(paused.target.session.id)) this.#events?.onDenied?.(url);
    return isAllowed;
  }

  /** The test redirects a paused request: the next request has the same initiator. */
  noteRedirected(paused: PausedRequest, location: string): void {
    if (!this.#visitedFor(paused)) return;
    void this.#initiators?.of(paused);
    this.#initiators?.noteRedirect(paused, location);
  }

  /** The response to a proxied request to `url` is a redirect; the browser does not have it yet. */
  noteProxiedRedirect(paused: PausedRequest, url: string, location: string): void {
    if (this.ownHostsOf(paused.target).matches(url)) this.#initiators?.noteRedirect(paused, location);
  }

  #visitedFor({ target }: PausedRequest): VisitedOrigins | undefined {
    return this.#reaches.get(target.session.target.contextId)?.visited;
  }

  /** Whether every page reaches all of loopback, so that visits change nothing. */
  get #listsLoopback(): boolean {
    return LOOPBACK.urlPatterns.every((pattern) => this.#listed.urlPatterns.includes(pattern));
  }

  #hostsWith(visited: VisitedOrigins): ProxiedHosts {
    const files = {
      matches: (url: string) => visited.has(url),
      urlPatterns: visited.directories.length > 0 ? [ALL_FILES] : [],
      hostExpressions: [],
    };
    return union([this.#listed, LOOPBACK, files]);
  }

  /** Returns whether it is new. */
  #note(visited: VisitedOrigins, origin: string | null): boolean {
    const isNew = origin !== null && visited.add(origin);
    if (isNew) this.#events?.onVisit(origin);
    return isNew;
  }
}

function union(all: readonly ProxiedHosts[]): ProxiedHosts {
  return {
    matches: (url) => all.some((hosts) => hosts.matches(url)),
    urlPatterns: all.flatMap(({ urlPatterns }) => urlPatterns),
    hostExpressions: all.flatMap(({ hostExpressions }) => hostExpressions),
  };
}

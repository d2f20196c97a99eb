import type { Protocol } from 'devtools-protocol';
import * as v from 'valibot';
import { isLoopbackHost } from '../../../common/url/loopback.ts';
import { parsedUrl } from '../../../common/url/parsed-url.ts';
import { type CdpMessage, fieldsOf } from '../../message.ts';
import { SessionMap } from '../../model/per-session.ts';
import type { InterceptorTransport } from '../../transport/interceptor.ts';
import { byLowerCase, type HeaderList, headerOf } from '../headers/header-list.ts';
import type { PausedRequest } from '../request/paused-request.ts';
import { cookieToSet, isPartitioned } from './set-cookie.ts';

const allCookies = v.looseObject({
  cookies: v.array(
    v.looseObject({
      name: v.string(),
      value: v.string(),
      domain: v.string(),
      path: v.string(),
      secure: v.boolean(),
      sameSite: v.optional(v.string()),
      partitionKey: v.optional(v.looseObject({ topLevelSite: v.string(), hasCrossSiteAncestor: v.boolean() })),
    }),
  ),
});
type Cookie = v.InferOutput<typeof allCookies>['cookies'][number];

/** The documents that a request comes from. */
interface Ancestors {
  /** Address of the page; for a page's own document, of that. */
  top: string;
  /** The document that makes the request, and those around it up to the page's. */
  documents: string[];
}

/** How many names of hosts are kept. */
const MAX_DOMAINS = 1_000;

/**
 * The cookies of proxied requests. The browser chooses them when it pauses a request, but without partitioned ones
 * (`Partitioned`), and it sets those of a response without their partition. And a cookie may change while the client
 * holds a request.
 */
export class RequestCookies {
  readonly #transport: InterceptorTransport;
  /** Browser contexts that may have partitioned cookies. */
  readonly #partitioned = new Set<string | undefined>();
  /** The registrable domains of hosts, as the browser reports them. */
  readonly #domains = new Map<string, string>();
  /** The parents of frames, also of those without a document. */
  readonly #parents: SessionMap<string, string>;

  constructor(transport: InterceptorTransport) {
    this.#transport = transport;
    this.#parents = new SessionMap(transport.model);
  }

  /** Takes the client's commands. */
  observeCommand({ method = '', params, sessionId }: CdpMessage): void {
    if (!/^(Storage|Network)\.setCookies?$/.test(method)) return;
    const { browserContextId, cookies, partitionKey } = fieldsOf<
      Protocol.Storage.SetCookiesRequest & Protocol.Network.CookieParam
    >(params);
    const all = Array.isArray(cookies) ? cookies : [{ partitionKey }];
    if (!all.some((cookie) => fieldsOf<Protocol.Network.CookieParam>(cookie).partitionKey !== undefined)) return;
    const named = typeof browserContextId === 'string' ? browserContextId : undefined;
    this.#partitioned.add(named ?? this.#contextOf(sessionId));
  }

  /** Takes messages from the browser. */
  observe({ method, params, sessionId }: CdpMessage): void {
    if (method === 'Page.frameAttached') {
      const { frameId, parentFrameId } = fieldsOf<Protocol.Page.FrameAttachedEvent>(params);
      this.#parents.set(String(frameId), String(parentFrameId), sessionId);
    } else if (method === 'Page.frameDetached') {
      const { frameId, reason } = fieldsOf<Protocol.Page.FrameDetachedEvent>(params);
      // A swapped frame continues in another session.
      if (reason !== 'swap') this.#parents.delete(String(frameId));
    } else if (method === 'Page.frameNavigated') {
      const frame = fieldsOf<Protocol.Page.Frame>(fieldsOf<Protocol.Page.FrameNavigatedEvent>(params).frame);
      const host = hostOf(String(frame.url));
      const domain = frame.domainAndRegistry;
      if (host === null || typeof domain !== 'string' || domain === '' || this.#domains.size >= MAX_DOMAINS) return;
      this.#domains.set(host, domain);
    } else if (method === 'Network.responseReceivedExtraInfo') {
      const { headers } = fieldsOf<Protocol.Network.ResponseReceivedExtraInfoEvent>(params);
      const lines = Object.entries(headers ?? {}).filter(([name]) => /^set-cookie$/i.test(name));
      if (lines.some(([, value]) => String(value).split('\n').some(isPartitioned))) {
        this.#partitioned.add(this.#contextOf(sessionId));
      }
    }
  }

  /**
   * A paused request with the cookies to send.
   * @param isStale whether cookies may have changed since it was paused
   */
  async refreshed(paused: PausedRequest, url: string, isStale: boolean): Promise<PausedRequest> {
    const { headers, target } = paused;
    const [name = 'Cookie', header = ''] = Object.entries(headers).find(([each]) => /^cookie$/i.test(each)) ?? [];
    const ancestors = this.#ancestorsOf(paused);
    const hasCredentials = header !== '' || !mayLackCredentials(paused);
    const mayBePartitioned =
      this.#partitioned.has(target.session.target.contextId) ||
      (ancestors !== null && this.#isCrossSite(ancestors, paused));
    if (!isStale && !(mayBePartitioned && hasCredentials)) return paused;
    const own = (await this.all(target.session.id))?.filter((cookie) => isFor(cookie, url));
    if (!own) return paused;
    const unpartitioned = isStale ? this.#fresh(own, header, ancestors, paused) : header;
    const partitioned = hasCredentials ? own.filter((cookie) => this.isOfPartition(cookie, paused)) : [];
    const chosen = [unpartitioned, ...partitioned.map(textOf)].filter((text) => text !== '').join('; ');
    const { [name]: _before, ...others } = headers;
    return { ...paused, headers: chosen === '' ? others : { ...others, [name]: chosen } };
  }

  /** Sets the partitioned cookies of a response. Returns the headers that are left for the browser. */
  async set(paused: PausedRequest, headers: HeaderList): Promise<HeaderList> {
    const isOurs = ({ name, value }: HeaderList[number]) => /^set-cookie$/i.test(name) && isPartitioned(value);
    const lines = headers.filter(isOurs);
    if (lines.length === 0) return headers;
    const { target, url } = paused;
    this.#partitioned.add(target.session.target.contextId);
    const ancestors = this.#ancestorsOf(paused);
    if (ancestors && (await this.hadCredentials(paused, headers))) {
      const hasCrossSiteAncestor = this.#isCrossSite(ancestors, paused);
      const partitionKey = { topLevelSite: ancestors.top, hasCrossSiteAncestor };
      for (const { value } of lines) {
        const cookie = cookieToSet(value, url);
        if (!cookie || (hasCrossSiteAncestor && cookie.sameSite !== 'None')) continue;
        // The browser rejects what it would reject in a response.
        const params = { ...cookie, partitionKey };
        await this.#transport.call('Network.setCookie', params, target.session.id).catch(() => undefined);
      }
    }
    return headers.filter((header) => !isOurs(header));
  }

  /** All cookies of a session's context; null if it does not tell, like one of a worker. */
  async all(sessionId: string): Promise<Cookie[] | null> {
    try {
      return v.parse(allCookies, await this.#transport.call('Network.getAllCookies', {}, sessionId)).cookies;
    } catch {
      return null;
    }
  }

  /** Whether a cookie is partitioned, and for requests such as this one. */
  isOfPartition({ partitionKey }: Cookie, paused: PausedRequest): boolean {
    const ancestors = this.#ancestorsOf(paused);
    if (!partitionKey || !ancestors) return false;
    const { topLevelSite, hasCrossSiteAncestor } = partitionKey;
    return isWithin(ancestors.top, topLevelSite) && this.#isCrossSite(ancestors, paused) === hasCrossSiteAncestor;
  }

  /** Whether a request had credentials, by its cookies and its response. @param received headers of the response */
  async hadCredentials(paused: PausedRequest, received: HeaderList): Promise<boolean> {
    if (byLowerCase(paused.headers).cookie !== undefined) return true;
    if (mayLackCredentials(paused) && !headerOf(received, 'access-control-allow-credentials')) return false;
    const ancestors = this.#ancestorsOf(paused);
    const isSameSite = ancestors !== null && !this.#isCrossSite(ancestors, paused);
    // It has none of the cookies that it would have with credentials.
    const own = (await this.all(paused.target.session.id))?.filter((cookie) => isFor(cookie, paused.url)) ?? [];
    return !own.some(({ partitionKey, sameSite }) => !partitionKey && (isSameSite || sameSite === 'None'));
  }

  /** Scheme and registrable domain of an address, as far as the browser has reported it. */
  siteOf(url: string): string {
    const { protocol, hostname } = new URL(url);
    const known = [...this.#domains.values()].find((domain) => `.${hostname}`.endsWith(`.${domain}`));
    return `${protocol}//${known ?? hostname}`;
  }

  /** The unpartitioned cookies to send now: those that the browser chose, and new ones that the request may have. */
  #fresh(own: Cookie[], header: string, ancestors: Ancestors | null, paused: PausedRequest): string {
    const before = new Set(header.split('; ').map((pair) => pair.split('=')[0]));
    const isSameSite = ancestors !== null && !this.#isCrossSite(ancestors, paused);
    const mayBeNew = header !== '' || !mayLackCredentials(paused);
    return own
      .filter(({ partitionKey }) => partitionKey === undefined)
      .filter(({ name, sameSite }) => before.has(name) || (mayBeNew && (isSameSite || sameSite === 'None')))
      .sort((one, other) => other.path.length - one.path.length)
      .map(textOf)
      .join('; ');
  }

  #contextOf(sessionId: string | undefined): string | undefined {
    return this.#transport.model.session(sessionId)?.target.contextId;
  }

  #isCrossSite({ top, documents }: Ancestors, { url }: PausedRequest): boolean {
    const site = this.siteOf(top);
    return ![url, ...documents].every((each) => isWithin(each, site));
  }

  /** Null if a document is unknown. */
  #ancestorsOf({ frameId, target, isNavigation, url }: PausedRequest): Ancestors | null {
    const { frames } = this.#transport.model;
    const { session } = target;
    if (!target.isDocument) return { top: session.target.url, documents: [] };
    const id = frameId ?? session.target.id;
    if (isNavigation && session.target.type === 'page' && id === session.target.id) return { top: url, documents: [] };
    let frame = frames.get(isNavigation ? (this.#parents.get(id) ?? frames.get(id)?.parentId) : id);
    const documents: string[] = [];
    for (; frame; frame = frames.get(frame.parentId)) {
      const address = String(frame.documents.at(-1)?.url);
      // An empty document belongs to the one around it, or to the page that opened it.
      if (hostOf(address) !== null) documents.push(address);
      if (frame.parentId === undefined) break;
    }
    const top = documents.at(-1);
    return frame && top !== undefined ? { top, documents } : null;
  }
}

/**
 * Whether a request may be one without credentials: it neither sends nor sets cookies. The browser does not report
 * which requests these are.
 */
function mayLackCredentials({ headers, isNavigation, url }: PausedRequest): boolean {
  const { origin } = byLowerCase(headers);
  return !isNavigation && origin !== undefined && origin !== new URL(url).origin;
}

function textOf({ name, value }: Cookie): string {
  return name === '' ? value : `${name}=${value}`;
}

/** Whether a cookie is for an address, by its domain, path and scheme. */
function isFor({ domain, path, secure }: Cookie, url: string): boolean {
  const parsed = new URL(url);
  const { hostname, pathname } = parsed;
  const isOfHost = domain.startsWith('.') ? `.${hostname}`.endsWith(domain) : hostname === domain;
  const isOfPath = pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`);
  return isOfHost && isOfPath && (!secure || isTrustworthy(parsed));
}

/** Whether Chromium trusts a connection to it: by TLS, or because it does not leave the machine. */
export function isTrustworthy({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || isLoopbackHost(hostname);
}

/** Whether an address is of a site, which is a scheme and a registrable domain. */
export function isWithin(url: string, site: string): boolean {
  const [one, other] = [parsedUrl(url), parsedUrl(site)];
  if (!one || !other || one.protocol !== other.protocol) return false;
  return one.hostname === other.hostname || one.hostname.endsWith(`.${other.hostname}`);
}

function hostOf(url: string): string | null {
  const parsed = parsedUrl(url);
  return parsed && /^https?:$/.test(parsed.protocol) ? parsed.hostname : null;
}

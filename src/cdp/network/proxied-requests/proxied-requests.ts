import type { Protocol } from 'devtools-protocol';
import { dateNow } from '../../../common/clock.ts';
import type { Dial } from '../../../common/dial/dial.ts';
import { errorMessage } from '../../../common/error-message.ts';
import type { ProxiedDownloads } from '../../files/proxied-downloads.ts';
import { type CdpMessage, fieldsOf } from '../../message.ts';
import { SessionMap } from '../../model/per-session.ts';
import { firstOf } from '../../model/requests.ts';
import type { InterceptorTransport } from '../../transport/interceptor.ts';
import type { RequestCookies } from '../cookies/request-cookies.ts';
import { SiteData } from '../cookies/site-data.ts';
import { byLowerCase, headerOf } from '../headers/header-list.ts';
import { announcedRequest } from '../request/announced-request.ts';
import {
  type ContinueFields,
  mayHaveOwnBytes,
  type PausedRequest,
  requestBody,
  requestHeaders,
  responseCommand,
} from '../request/paused-request.ts';
import { isWorker, type ProxiedTarget } from '../request/proxied-targets.ts';
import { ACCEPTED } from '../send/content-encoding.ts';
import type { ContextProxies } from '../send/context-proxy/context-proxies.ts';
import type { ContextProxy } from '../send/context-proxy/context-proxy.ts';
import { type Failure, howBroken } from '../send/failures.ts';
import {
  cutShort,
  isEventStream,
  MAX_BODY_BYTES,
  type Outcome,
  ProxyFetcher,
  type ProxyRequest,
  type ProxyResponse,
  redirectOf,
  wholeOf,
} from '../send/fetcher.ts';
import type { ProxiedTraffic } from '../send/proxied-traffic.ts';
import type { StreamedResponses } from '../streaming/streamed-responses.ts';
import { Credentials, challengeOf } from './credentials.ts';
import type { ImpliedHeaders } from './implied-headers.ts';
import { ReportedResponses } from './reported-responses.ts';
import { RequestsUnderWay, type RequestUnderWay, whenAbandoned } from './requests-under-way.ts';

/** How often a request is retried with credentials. Playwright provides them once. */
const MAX_CREDENTIALS = 2;

interface Parts {
  implied: ImpliedHeaders;
  downloads: ProxiedDownloads;
  streams: StreamedResponses;
  traffic: ProxiedTraffic | undefined;
  dial?: Dial | undefined;
  proxies: ContextProxies;
  cookies: RequestCookies;
  /** Called with the address and the `Location` of a redirect before the browser gets the response. */
  onRedirect: (paused: PausedRequest, url: string, location: string) => void;
  /** Called after a response that sets cookies. */
  onCookies: () => void;
}

/** A request to make, without the page's connection settings. */
type WorkerRequest = Omit<ProxyRequest, 'context' | 'ignoreHTTPSErrors' | 'proxy' | 'link'> & { isScripts: boolean };

/** Makes the proxied requests and gives the results to the browser. */
export class ProxiedRequests {
  readonly #transport: InterceptorTransport;
  readonly #parts: Parts;
  readonly #fetcher: ProxyFetcher;
  readonly #credentials: Credentials;
  readonly #reported: ReportedResponses;
  readonly #siteData: SiteData;
  /** Network IDs of requests that lost their body in a redirect. */
  readonly #bodiless: SessionMap<string, true>;
  readonly #underWay: RequestsUnderWay;

  constructor(transport: InterceptorTransport, parts: Parts) {
    this.#transport = transport;
    this.#parts = parts;
    this.#fetcher = new ProxyFetcher(parts.traffic, parts.dial);
    this.#credentials = new Credentials(transport);
    this.#reported = new ReportedResponses(transport);
    this.#siteData = new SiteData(transport, parts.cookies);
    this.#bodiless = new SessionMap(transport.model);
    this.#underWay = new RequestsUnderWay(transport.model);
  }

  /** Returns null for a command that responds to our own event, or that gets its response here. */
  onCommand(command: CdpMessage): CdpMessage | null {
    if (command.method === 'Target.disposeBrowserContext') {
      const { browserContextId } = fieldsOf<Protocol.Target.DisposeBrowserContextRequest>(command.params);
      this.#fetcher.leaveContext(String(browserContextId));
    }
    return this.#credentials.onCommand(command) && this.#parts.streams.kept.onCommand(command);
  }

  /** Returns a response or a `Network.*` event of a session as the client gets it. */
  onMessage(message: CdpMessage): CdpMessage | null {
    if (message.method === 'Network.loadingFinished' || message.method === 'Network.loadingFailed') {
      const id = String(fieldsOf<Protocol.Network.LoadingFinishedEvent>(message.params).requestId);
      this.#bodiless.delete(id);
      // The page cancels a request or navigates away.
      if (message.method === 'Network.loadingFailed') this.#underWay.abort(id);
    }
    const corrected = this.#reported.correct(message);
    return corrected && this.#parts.streams.kept.onMessage(corrected);
  }

  end(): void {
    this.#underWay.abortAll();
    this.#fetcher.close();
  }

  /** See {@link RequestsUnderWay.handOver}. */
  handOver(paused: PausedRequest): boolean {
    return this.#underWay.handOver(paused);
  }

  /**
   * Never rejects: a request that is gone needs no response.
   * @param changes made by the client
   * @param isStale whether cookies may have changed since the browser has paused it
   */
  async proxy(before: PausedRequest, changes: ContinueFields, isStale: boolean): Promise<void> {
    const underWay = this.#underWay.begin(before);
    const { abort } = underWay;
    const endWatch = whenAbandoned(
      this.#transport,
      () => underWay.paused,
      () => abort.abort(),
    );
    try {
      const url = typeof changes.url === 'string' ? changes.url : before.url;
      const paused = await this.#parts.cookies.refreshed(before, url, isStale);
      const request: WorkerRequest = {
        url,
        method: typeof changes.method === 'string' ? changes.method : paused.method,
        headers: await this.#headers(paused, changes),
        body: await requestBody(this.#transport, paused, changes),
        download: this.#mayDownload(paused),
        signal: abort.signal,
        isScripts: this.#isOfScript(paused),
      };
      const document = request.isScripts ? this.#parts.streams.documentOf(paused) : undefined;
      let outcome = await this.#authorized(paused, request);
      if (!('failure' in outcome) && outcome.rest) {
        // The browser does not report every request that ends with its document.
        if (document && this.#parts.streams.documentOf(paused) !== document) abort.abort();
        outcome = await this.#inPieces(paused, request, outcome, abort);
      }
      endWatch();
      if (abort.signal.aborted) return;
      this.#reported.report(paused, asWritten(request), outcome);
      if ('failure' in outcome) this.#explain(paused, request.url, outcome);
      else {
        this.#keepBody(paused, outcome);
        await this.#siteData.clear(paused, outcome.received);
        outcome = { ...outcome, headers: await this.#parts.cookies.set(paused, outcome.headers) };
      }
      await this.#respond(underWay, request, outcome);
      if (!('failure' in outcome) && headerOf(outcome.received, 'set-cookie') !== undefined) this.#parts.onCookies();
    } catch {
      // Its page or the connection is gone; if not, the request must not wait forever.
      const { requestId, sessionId } = underWay.paused;
      this.#transport.post('Fetch.failRequest', { requestId, errorReason: 'Failed' }, sessionId);
    } finally {
      endWatch();
      this.#underWay.end(underWay);
    }
  }

  /** Gives the browser the result of a request. */
  async #respond(underWay: RequestUnderWay, request: WorkerRequest, outcome: Outcome): Promise<void> {
    const respond = async (paused: PausedRequest) => {
      if (!('failure' in outcome)) this.#noteRedirect(paused, request, outcome);
      const [command, params] = responseCommand(paused.requestId, outcome);
      await this.#transport.call(command, params, paused.sessionId);
    };
    const { paused } = underWay;
    try {
      await respond(paused);
    } catch (error) {
      const isClosed = !this.#transport.model.session(paused.target.session.id);
      const handedOver = isClosed && paused.sessionId ? await underWay.handedOver() : null;
      if (!handedOver) throw error;
      await respond(handedOver);
    }
  }

  /** The headers to send, including those that the browser would have added. */
  async #headers(paused: PausedRequest, changes: ContinueFields): Promise<Record<string, string>> {
    const { networkId, target, isNavigation, resourceType } = paused;
    // At this stage the browser reports an `EventSource` as a fetch.
    const isOfScript = /^(XHR|Fetch|EventSource)$/.test(resourceType);
    const mayHaveValues = changes.headers === undefined && mayHaveOwnBytes(paused.headers);
    if (isOfScript || mayHaveValues) await announcedRequest(this.#transport, paused);
    const announced = this.#transport.model.requests.get(networkId);
    const headers = requestHeaders(paused, changes, announced);
    if (networkId !== undefined && this.#bodiless.delete(networkId)) {
      for (const name of Object.keys(headers)) if (/^content-/i.test(name)) delete headers[name];
    }
    const { method, type, url } = announced ? firstOf(announced) : {};
    const isEvents = type === 'EventSource';
    // The browser's own downloads have no such ID; the client's cache setting does not apply to them.
    const cacheDisabled = (target.cacheDisabled && networkId !== undefined) || isEvents;
    const isLeft = networkId === undefined && !isNavigation;
    const how = { isNavigation, isPosted: method === 'POST', cacheDisabled, isLeft };
    // It comes from a worker, not from the page's document.
    const isOfWorker = paused.sessionId === undefined && announced !== undefined && isWorker(announced.session);
    const sender = { session: target.session, isDocument: target.isDocument && !isOfWorker };
    const complete = await this.#parts.implied.complete(headers, sender, how);
    const lastId = isEvents ? this.#parts.streams.lastEventId(paused, String(url)) : undefined;
    return { ...(lastId && { 'last-event-id': Buffer.from(lastId).toString('latin1') }), ...complete };
  }

  /** Some redirects turn a POST into a GET, which has neither the body nor the headers that describe it. */
  #noteRedirect(paused: PausedRequest, { method, url }: WorkerRequest, response: ProxyResponse): void {
    const { networkId } = paused;
    const location = redirectOf(response);
    if (location !== null) this.#parts.onRedirect(paused, url, location);
    if (networkId === undefined || /^(GET|HEAD)$/.test(method)) return;
    const isDropped = response.status === 303 || (method === 'POST' && /^30[12]$/.test(String(response.status)));
    if (isDropped) this.#bodiless.set(networkId, true, paused.target.session.id);
  }

  /** The browser does not keep bodies of images and prefetches that it gets over CDP; the client may ask for them. */
  #keepBody({ target, networkId, resourceType, headers }: PausedRequest, response: ProxyResponse): void {
    if (networkId === undefined || response.rest || response.body.length === 0) return;
    const isPrefetch = byLowerCase(headers)['sec-purpose']?.startsWith('prefetch');
    if (!isPrefetch && resourceType !== 'Image') return;
    this.#parts.streams.kept.begin(networkId, target.session.id);
    this.#parts.streams.kept.add(networkId, response.body);
    this.#parts.streams.kept.end(networkId, 'whole', response.exchange.bytes());
  }

  /** Whether a document's script may have made the request, with an API that can take a response in parts. */
  #isOfScript({ resourceType, target: { session }, networkId }: PausedRequest): boolean {
    // A worker's request is announced in the worker's session and paused in its page's.
    const announced = this.#transport.model.requests.get(networkId);
    return (announced?.session ?? session) === session && /^(XHR|Fetch)$/.test(resourceType);
  }

  #mayDownload({ isNavigation, networkId }: PausedRequest): ProxyRequest['download'] {
    if (!isNavigation || !this.#parts.downloads.areTaken) return 'never';
    // A request from a link with a `download` attribute does not belong to a page.
    return networkId === undefined ? 'is' : 'may-be';
  }

  /** Makes a request, and retries it with credentials from its address or the client. */
  async #authorized(paused: PausedRequest, request: WorkerRequest): Promise<Outcome> {
    const { target } = paused;
    const proxy = this.#parts.proxies.of(target.session.target.contextId);
    const headers = { ...request.headers };
    const outcome = () => this.#outcome(target, { ...request, headers }, proxy);
    let last = await outcome();
    const own = Credentials.inAddress(request, last);
    if (own !== null) {
      headers.authorization = own;
      last = await outcome();
    }
    const isClients = target.clientIntercepts && paused.sessionId === target.session.id;
    for (let tries = 0; tries < MAX_CREDENTIALS && isClients; tries += 1) {
      const given = await this.#credentials.ask(paused, request, last, proxy);
      if (given === null) break;
      if (given.isForProxy && proxy) proxy.authorization = given.authorization;
      else headers.authorization = given.authorization;
      last = await outcome();
      if (proxy && challengeOf(last)?.isForProxy) proxy.authorization = undefined;
    }
    return last;
  }

  async #outcome(
    { conditions, ignoreHTTPSErrors, session }: ProxiedTarget,
    request: WorkerRequest,
    proxy: ContextProxy | undefined,
  ): Promise<Outcome> {
    if (conditions?.isOffline) return { failure: 'InternetDisconnected', detail: 'the page is offline' };
    const link = conditions?.links.find((each) => each.matches(request.url));
    const context = session.target.contextId;
    return await this.#fetcher.fetch({ ...request, context, ignoreHTTPSErrors, proxy, link });
  }

  /**
   * A response that is a stream, or too large for the browser, goes to the script that requested it, if there is one.
   */
  async #inPieces(
    paused: PausedRequest,
    request: WorkerRequest,
    response: ProxyResponse,
    abort: AbortController,
  ): Promise<Outcome> {
    if (response.isDownload) return this.#toDisk(paused, response);
    const announced = this.#transport.model.requests.get(paused.networkId);
    const first = announced && firstOf(announced);
    // At this stage the browser reports it as a fetch.
    const isEvents = first?.type === 'EventSource';
    // A browser does not wait for the rest of these.
    if (redirectOf(response) !== null || (isEvents && !isEventStream(response))) {
      response.rest?.cancel();
      return cutShort(response, response.body);
    }
    const offered = { ...paused, asked: first?.url ?? paused.url };
    if (request.isScripts && !isEvents && (await this.#parts.streams.offer(offered, response, abort))) {
      return { ...response, body: Buffer.alloc(0) };
    }
    if (announced) this.#reported.reportHead(paused, asWritten(request), response, announced);
    const last = isEvents && request.isScripts ? await this.#parts.streams.offerEvents(offered, response, abort) : null;
    if (last) return cutShort(response, last);
    let body: Buffer | null;
    try {
      body = await wholeOf(response);
    } catch (error) {
      const netError = howBroken(error as Error, response.exchange.head);
      return { failure: 'ConnectionClosed', detail: errorMessage(error), netError };
    }
    if (body) return { ...response, body, rest: null };
    response.rest?.cancel();
    const most = `${MAX_BODY_BYTES / 1024 ** 2} MB`;
    const detail = `the response is larger than ${most}: only fetch() and XMLHttpRequest of a page can take it`;
    return { failure: 'Failed', detail };
  }

  /** The browser gets only the head of a download: the body is written on this machine. */
  #toDisk(paused: PausedRequest, { body: head, rest, ...response }: ProxyResponse): Outcome {
    const pieces = head.length > 0 ? [head] : [];
    this.#parts.downloads.offer(paused.frameId, paused.url, {
      read: async (bytes) => pieces.pop() ?? (await rest?.read(bytes)) ?? Buffer.alloc(0),
      cancel: () => rest?.cancel(),
    });
    // For its page, a navigation that becomes a download ends as aborted.
    this.#underWay.detach(paused);
    return cutShort(response, Buffer.alloc(0));
  }

  /** The page only sees `net::ERR_FAILED`; its console shows the reason. */
  #explain({ target: { session } }: PausedRequest, url: string, { failure, detail }: Failure): void {
    if (failure !== 'Failed' || !this.#transport.model.session(session.id)) return;
    const text = `poolwright: ${new URL(url).host} was reached through the test machine, but ${detail}`;
    const entry = { source: 'network', level: 'error', text, url, timestamp: dateNow() };
    this.#transport.deliver({ sessionId: session.id, method: 'Log.entryAdded', params: { entry } });
  }
}

/** A request's headers plus those of its connection, which is made here. */
function asWritten({ url, headers, body }: Pick<ProxyRequest, 'url' | 'headers' | 'body'>): Record<string, string> {
  const own = { host: new URL(url).host, connection: 'keep-alive', 'accept-encoding': ACCEPTED };
  return { ...own, ...(body && { 'content-length': String(body.length) }), ...headers };
}

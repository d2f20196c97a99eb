import type { Protocol } from 'devtools-protocol';
import { errorMessage } from '../../../common/error-message.ts';
import type { CarriedDownloads } from '../../files/carried-downloads.ts';
import { SessionMap } from '../../model/per-session.ts';
import type { InterceptorLink } from '../../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';
import type { BridgedSessions } from '../bridged-sessions.ts';
import { ExtraInfo } from '../headers/extra-info.ts';
import { ImpliedHeaders } from '../headers/implied-headers.ts';
import { NetErrors } from '../headers/net-errors.ts';
import { PageHeaders } from '../headers/page-headers.ts';
import type { LargeAnswers } from '../large-answers/large-answers.ts';
import { whenAbandoned } from './abandoned.ts';
import { cutShort, howBroken, isEventStream, redirectOf, wholeOf } from './answer-forms.ts';
import { BridgeCredentials } from './bridge-credentials.ts';
import {
  ACCEPTED,
  type BridgeAnswer,
  BridgeFetcher,
  type BridgeOutcome,
  type BridgeRequest,
  MAX_BODY_BYTES,
} from './bridge-fetch.ts';
import { answerTo, type ContinueFields, type PausedRequest, requestBody, requestHeaders } from './paused-request.ts';

/** How often one request is tried with credentials. Playwright gives them once. */
const MAX_CREDENTIALS = 2;

interface Parts {
  downloads: CarriedDownloads;
  sessions: BridgedSessions;
  largeAnswers: LargeAnswers;
  onCarried: (bytes: number) => void;
  /** Called with the `Location` of an answer that redirects a request, before the browser has it. */
  onRedirect: (paused: PausedRequest, location: string) => void;
}

/** A request's headers with those of its connection, which is made here. */
function asWritten({ url, headers, body }: Pick<BridgeRequest, 'url' | 'headers' | 'body'>): Record<string, string> {
  const own = { host: new URL(url).host, connection: 'keep-alive', 'accept-encoding': ACCEPTED };
  return { ...own, ...(body && { 'content-length': String(body.length) }), ...headers };
}

/** Makes the requests that a bridge carries, and hands the browser what came of them. */
export class CarriedRequests {
  readonly #link: InterceptorLink;
  readonly #sessions: BridgedSessions;
  readonly #downloads: CarriedDownloads;
  readonly #largeAnswers: LargeAnswers;
  readonly #onRedirect: Parts['onRedirect'];
  readonly #fetcher: BridgeFetcher;
  readonly #credentials: BridgeCredentials;
  readonly #extraInfo: ExtraInfo;
  readonly #implied: ImpliedHeaders;
  readonly #pageHeaders: PageHeaders;
  readonly #netErrors: NetErrors;
  /** Network IDs of requests whose body a redirect has taken away. */
  readonly #bodiless: SessionMap<string, true>;
  /** By network ID. */
  readonly #underWay: SessionMap<unknown, AbortController>;

  constructor(link: InterceptorLink, { sessions, largeAnswers, downloads, onCarried, onRedirect }: Parts) {
    this.#onRedirect = onRedirect;
    this.#link = link;
    this.#sessions = sessions;
    this.#downloads = downloads;
    this.#largeAnswers = largeAnswers;
    this.#fetcher = new BridgeFetcher(onCarried);
    this.#credentials = new BridgeCredentials(link);
    this.#extraInfo = new ExtraInfo(link);
    this.#implied = new ImpliedHeaders(link);
    this.#pageHeaders = new PageHeaders(link.model);
    this.#netErrors = new NetErrors(link.model);
    this.#bodiless = new SessionMap(link.model);
    this.#underWay = new SessionMap(link.model, (abort) => abort.abort());
  }

  /** A new page or frame, which waits to be let run. */
  prepare(sessionId: string, targetId: string): void {
    this.#implied.prepare(sessionId, targetId);
  }

  /** Returns null for a command that answers a question of ours. */
  onCommand(command: CdpMessage): CdpMessage | null {
    return this.#credentials.onCommand(command) && this.#largeAnswers.kept.onCommand(command);
  }

  /** See {@link ImpliedHeaders.isOfOwnWorld}. */
  isOfOwnWorld(message: CdpMessage): boolean {
    return this.#implied.isOfOwnWorld(message);
  }

  /** Returns a `Network.*` event of a session as it is to be passed on. */
  onMessage(message: CdpMessage): CdpMessage | null {
    this.#pageHeaders.observe(message);
    if (message.method === 'Network.loadingFinished' || message.method === 'Network.loadingFailed') {
      const { requestId } = fieldsOf<Protocol.Network.LoadingFinishedEvent>(message.params);
      this.#bodiless.delete(String(requestId));
    }
    if (message.method === 'Network.loadingFailed') {
      // A page that cancels a request, or is left.
      const { requestId } = fieldsOf<Protocol.Network.LoadingFailedEvent>(message.params);
      this.#underWay.get(requestId)?.abort();
    }
    const corrected = this.#extraInfo.correct(this.#netErrors.correct(message));
    return corrected && this.#largeAnswers.kept.onMessage(corrected);
  }

  end(): void {
    for (const [, abort] of this.#underWay) abort.abort();
    this.#fetcher.close();
  }

  /**
   * Never rejects: a request that is gone meanwhile needs no answer.
   * @param changes of Playwright's
   */
  async carry(paused: PausedRequest, changes: ContinueFields): Promise<void> {
    const { sessionId, requestId, networkId = requestId } = paused;
    const abort = new AbortController();
    this.#underWay.set(networkId, abort, sessionId);
    const endWatch = whenAbandoned(this.#link, paused, () => abort.abort());
    try {
      const headers = await this.#headers(paused, changes);
      const request = {
        url: typeof changes.url === 'string' ? changes.url : paused.url,
        method: typeof changes.method === 'string' ? changes.method : paused.method,
        headers,
        body: await requestBody(this.#link, paused, changes),
        download: this.#mayDownload(paused),
        signal: abort.signal,
      };
      const isScripts = this.#isOfScript(paused);
      const document = isScripts ? this.#largeAnswers.documentOf(paused) : undefined;
      let outcome = await this.#authorized(paused, request);
      if (!('failure' in outcome) && outcome.rest) {
        // The browser does not say so of every request that ends with its document.
        if (document && this.#largeAnswers.documentOf(paused) !== document) abort.abort();
        outcome = await this.#inPieces(paused, { ...request, isScripts }, outcome, abort);
      }
      endWatch();
      if (abort.signal.aborted) return;
      this.#extraInfo.tell(paused, asWritten(request), outcome);
      this.#netErrors.tell(paused, outcome);
      this.#noteRedirect(paused, request.method, outcome);
      this.#explain(sessionId, request.url, outcome);
      this.#keepBody(paused, outcome);
      const [method, params] = answerTo(requestId, outcome);
      await this.#link.call(method, params, sessionId);
    } catch {
      // Its page is gone, or its link; if it is not, it must not wait for ever.
      this.#link.post('Fetch.failRequest', { requestId, errorReason: 'Failed' }, sessionId);
    } finally {
      endWatch();
      if (this.#underWay.get(networkId) === abort) this.#underWay.delete(networkId);
    }
  }

  /** The headers to send, with those that the browser would have added. */
  async #headers(paused: PausedRequest, changes: ContinueFields): Promise<Record<string, string>> {
    const { sessionId, networkId } = paused;
    await this.#pageHeaders.settled(paused, changes.headers === undefined);
    const headers = requestHeaders(paused, changes, this.#pageHeaders);
    if (networkId !== undefined && this.#bodiless.delete(networkId)) {
      for (const name of Object.keys(headers)) if (/^content-/i.test(name)) delete headers[name];
    }
    const session = this.#sessions.get(sessionId);
    if (!session) return headers;
    const { method, type, url } = this.#pageHeaders.announcementOf(networkId)?.asked ?? {};
    const sender = { sessionId, ...session, isNavigation: paused.isNavigation, isPosted: method === 'POST' };
    // A download of the browser's own, which has no such ID, is not what the client has switched off.
    const cacheDisabled = (session.cacheDisabled && networkId !== undefined) || type === 'EventSource';
    const complete = await this.#implied.complete(headers, { ...sender, cacheDisabled });
    const lastId = type === 'EventSource' ? this.#largeAnswers.lastEventId(paused, String(url)) : undefined;
    return { ...(lastId && { 'last-event-id': Buffer.from(lastId).toString('latin1') }), ...complete };
  }

  /** What was posted is asked for where the answer says so, without its body, and what was said of that. */
  #noteRedirect(paused: PausedRequest, method: string, outcome: BridgeOutcome): void {
    const { networkId } = paused;
    if (networkId === undefined || 'failure' in outcome) return;
    const location = redirectOf(outcome);
    if (location !== null) this.#onRedirect(paused, location);
    if (/^(GET|HEAD)$/.test(method)) return;
    const isDropped = outcome.status === 303 || (method === 'POST' && /^30[12]$/.test(String(outcome.status)));
    if (isDropped) this.#bodiless.set(networkId, true, paused.sessionId);
  }

  /** Of what the browser shows, or fetches for later, it keeps no body that it was handed; Playwright may ask for it. */
  #keepBody({ sessionId, networkId, resourceType, headers }: PausedRequest, outcome: BridgeOutcome): void {
    if (networkId === undefined || 'failure' in outcome || outcome.rest || outcome.body.length === 0) return;
    const isPrefetch = Object.entries(headers).some(
      ([name, value]) => /^sec-purpose$/i.test(name) && /^prefetch/.test(value),
    );
    if (!isPrefetch && resourceType !== 'Image') return;
    this.#largeAnswers.kept.begin(networkId, sessionId);
    this.#largeAnswers.kept.add(networkId, outcome.body);
    this.#largeAnswers.kept.end(networkId, 'whole', outcome.exchange.bytes());
  }

  /** Whether a script of a document may have asked for it, by a means that takes an answer in parts. */
  #isOfScript({ resourceType, sessionId, networkId }: PausedRequest): boolean {
    // A worker's is announced to the worker, and stopped with its page's.
    const isWorkers = (this.#pageHeaders.announcementOf(networkId)?.sessionId ?? sessionId) !== sessionId;
    return !isWorkers && /^(XHR|Fetch)$/.test(resourceType);
  }

  #mayDownload({ isNavigation, networkId }: PausedRequest): BridgeRequest['download'] {
    if (!isNavigation || !this.#downloads.areTaken) return 'never';
    // What a link with a `download` attribute leads to is no request of a page's.
    return networkId === undefined ? 'is' : 'may-be';
  }

  /** What comes of a request, tried again with the credentials that its address has, or Playwright. */
  async #authorized(paused: PausedRequest, request: Omit<BridgeRequest, 'ignoreHTTPSErrors'>): Promise<BridgeOutcome> {
    const { sessionId } = paused;
    const retry = (authorization: string) =>
      this.#outcome(sessionId, { ...request, headers: { ...request.headers, authorization } });
    let outcome = await this.#outcome(sessionId, request);
    const own = BridgeCredentials.inAddress(request.url, outcome);
    if (own !== null) outcome = await retry(own);
    for (let tries = 0; tries < MAX_CREDENTIALS && this.#sessions.get(sessionId)?.playwrightIntercepts; tries += 1) {
      const authorization = await this.#credentials.answer(paused, outcome);
      if (authorization === null) break;
      outcome = await retry(authorization);
    }
    return outcome;
  }

  async #outcome(sessionId: string, request: Omit<BridgeRequest, 'ignoreHTTPSErrors'>): Promise<BridgeOutcome> {
    const { offline = false, ignoreHTTPSErrors = false } = this.#sessions.get(sessionId) ?? {};
    if (offline) return { failure: 'InternetDisconnected', detail: 'the page is offline' };
    return await this.#fetcher.fetch({ ...request, ignoreHTTPSErrors });
  }

  /** An answer that comes in parts, or is too large for the browser, goes to the script that asked for it, if one did. */
  async #inPieces(
    paused: PausedRequest,
    request: Pick<BridgeRequest, 'url' | 'headers' | 'body'> & { isScripts: boolean },
    answer: BridgeAnswer,
    abort: AbortController,
  ): Promise<BridgeOutcome> {
    if (answer.isDownload) return this.#toDisk(paused, answer);
    const announced = this.#pageHeaders.announcementOf(paused.networkId);
    // Where it is stopped, it is called a fetch.
    const isEvents = announced?.asked.type === 'EventSource';
    // What a browser does not wait for.
    if (redirectOf(answer) !== null || (isEvents && !isEventStream(answer))) {
      answer.rest?.cancel();
      return cutShort(answer, answer.body);
    }
    const offered = { ...paused, asked: announced?.asked.url ?? paused.url };
    if (request.isScripts && !isEvents && (await this.#largeAnswers.offer(offered, answer, abort))) {
      return { ...answer, body: Buffer.alloc(0) };
    }
    if (announced) this.#extraInfo.tellHead(paused, asWritten(request), answer, announced);
    const last = isEvents && request.isScripts ? await this.#largeAnswers.offerEvents(offered, answer, abort) : null;
    if (last) return cutShort(answer, last);
    let body: Buffer | null;
    try {
      body = await wholeOf(answer);
    } catch (error) {
      const netError = howBroken(error as Error, answer.exchange);
      return { failure: 'ConnectionClosed', detail: errorMessage(error), netError };
    }
    if (body) return { ...answer, body, rest: null };
    answer.rest?.cancel();
    const most = `${MAX_BODY_BYTES / 1024 ** 2} MB`;
    const detail = `the answer is larger than ${most}, and only fetch() and XMLHttpRequest of a page can take such a one`;
    return { failure: 'Failed', detail };
  }

  /** The browser is handed the head of a download: its body is here, where it is to end. */
  #toDisk(
    { frameId, url, networkId, requestId }: PausedRequest,
    { body: head, rest, ...answer }: BridgeAnswer,
  ): BridgeOutcome {
    const pieces = head.length > 0 ? [head] : [];
    this.#downloads.offer(frameId, url, {
      read: async (bytes) => pieces.pop() ?? (await rest?.read(bytes)) ?? Buffer.alloc(0),
      cancel: () => rest?.cancel(),
    });
    // A navigation that turns out to be a download ends for its page as one that is given up.
    this.#underWay.delete(networkId ?? requestId);
    return cutShort(answer, Buffer.alloc(0));
  }

  /** What the page will call `net::ERR_FAILED` stands in its console with its reason. */
  #explain(sessionId: string, url: string, outcome: BridgeOutcome): void {
    if (!('failure' in outcome) || outcome.failure !== 'Failed') return;
    const text = `poolwright: ${new URL(url).host} was reached through the test machine, but ${outcome.detail}`;
    const entry = { source: 'network', level: 'error', text, url, timestamp: Date.now() };
    this.#link.deliver({ sessionId, method: 'Log.entryAdded', params: { entry } });
  }
}

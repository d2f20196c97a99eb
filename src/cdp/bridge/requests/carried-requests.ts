import type { Protocol } from 'devtools-protocol';
import type { CarriedDownloads } from '../../files/carried-downloads.ts';
import type { InterceptorLink } from '../../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';
import type { BridgedSessions } from '../bridged-sessions.ts';
import { ExtraInfo } from '../headers/extra-info.ts';
import { ImpliedHeaders } from '../headers/implied-headers.ts';
import { NetErrors } from '../headers/net-errors.ts';
import { PageHeaders } from '../headers/page-headers.ts';
import type { LargeAnswers } from '../large-answers/large-answers.ts';
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
}

/** A request's headers with those of its connection, which is made here. */
function asWritten(url: string, headers: Record<string, string>): Record<string, string> {
  return { host: new URL(url).host, connection: 'keep-alive', 'accept-encoding': ACCEPTED, ...headers };
}

/** The whole of a body that nobody takes in parts; null when the browser cannot be handed it. */
async function wholeOf({ body, headers, rest }: BridgeAnswer): Promise<Buffer | null> {
  const told = Number(headers.find(({ name }) => /^content-length$/i.test(name))?.value ?? 0);
  if (!rest) return body;
  if (Math.max(told, body.length) > MAX_BODY_BYTES) return null;
  const whole = Buffer.concat([body, await rest.read(MAX_BODY_BYTES + 1 - body.length)]);
  return whole.length > MAX_BODY_BYTES ? null : whole;
}

/** Makes the requests that a bridge carries, and hands the browser what came of them. */
export class CarriedRequests {
  readonly #link: InterceptorLink;
  readonly #sessions: BridgedSessions;
  readonly #downloads: CarriedDownloads;
  readonly #largeAnswers: LargeAnswers;
  readonly #fetcher: BridgeFetcher;
  readonly #credentials: BridgeCredentials;
  readonly #extraInfo: ExtraInfo;
  readonly #implied: ImpliedHeaders;
  readonly #pageHeaders = new PageHeaders();
  readonly #netErrors = new NetErrors();
  /** Network IDs of requests whose body a redirect has taken away. */
  readonly #bodiless = new Set<string>();
  /** By network ID. */
  readonly #underWay = new Map<unknown, { sessionId: string; abort: AbortController }>();

  constructor(link: InterceptorLink, { sessions, largeAnswers, downloads, onCarried }: Parts) {
    this.#link = link;
    this.#sessions = sessions;
    this.#downloads = downloads;
    this.#largeAnswers = largeAnswers;
    this.#fetcher = new BridgeFetcher(onCarried);
    this.#credentials = new BridgeCredentials(link);
    this.#extraInfo = new ExtraInfo(link);
    this.#implied = new ImpliedHeaders(link);
  }

  /** A new page or frame, which waits to be let run. */
  prepare(sessionId: string, targetId: string): void {
    this.#implied.prepare(sessionId, targetId);
  }

  /** Returns null for a command that answers a question of ours. */
  onCommand(command: CdpMessage): CdpMessage | null {
    return this.#credentials.onCommand(command) && this.#largeAnswers.kept.onCommand(command);
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
      this.#underWay.get(requestId)?.abort.abort();
    }
    return this.#largeAnswers.kept.onMessage(this.#extraInfo.correct(this.#netErrors.correct(message)));
  }

  /** A page is gone, and what it had under way. */
  forget(gone: string): void {
    this.#pageHeaders.forget(gone);
    this.#implied.forget(gone);
    this.#extraInfo.forget(gone);
    this.#netErrors.forget(gone);
    this.#largeAnswers.kept.forget(gone);
    for (const { sessionId, abort } of this.#underWay.values()) if (sessionId === gone) abort.abort();
  }

  /** All pages and workers of a browser context are gone. */
  forgetContext(contextId: string): void {
    this.#implied.forgetContext(contextId);
  }

  end(): void {
    for (const { abort } of this.#underWay.values()) abort.abort();
    this.#fetcher.close();
  }

  /**
   * Never rejects: a request that is gone meanwhile needs no answer.
   * @param changes of Playwright's
   */
  async carry(paused: PausedRequest, changes: ContinueFields): Promise<void> {
    const { sessionId, requestId, networkId = requestId } = paused;
    const abort = new AbortController();
    this.#underWay.set(networkId, { sessionId, abort });
    try {
      const headers = await this.#headers(paused, changes);
      const request = {
        url: typeof changes.url === 'string' ? changes.url : paused.url,
        method: typeof changes.method === 'string' ? changes.method : paused.method,
        headers,
        body: await requestBody(this.#link, paused, changes),
        isScripts: this.#isOfScript(paused),
        download: this.#mayDownload(paused),
        signal: abort.signal,
      };
      const document = request.isScripts ? this.#largeAnswers.documentOf(paused) : undefined;
      let outcome = await this.#outcome(sessionId, request);
      const own = BridgeCredentials.inAddress(request.url, outcome);
      if (own !== null)
        outcome = await this.#outcome(sessionId, { ...request, headers: { ...headers, authorization: own } });
      for (let tries = 0; tries < MAX_CREDENTIALS && this.#sessions.get(sessionId)?.playwrightIntercepts; tries += 1) {
        const authorization = await this.#credentials.answer(paused, outcome);
        if (authorization === null) break;
        outcome = await this.#outcome(sessionId, { ...request, headers: { ...headers, authorization } });
      }
      if (!('failure' in outcome) && outcome.rest) {
        // The browser does not say so of every request that ends with its document.
        if (document && this.#largeAnswers.documentOf(paused) !== document) abort.abort();
        outcome = await this.#inPieces(paused, outcome, request.isScripts ? abort : null);
      }
      if (abort.signal.aborted) return;
      this.#extraInfo.tell(paused, asWritten(request.url, headers), outcome);
      this.#netErrors.tell(paused, outcome);
      this.#noteRedirect(paused, request.method, outcome);
      this.#explain(sessionId, request.url, outcome);
      const [method, params] = answerTo(requestId, outcome);
      await this.#link.call(method, params, sessionId);
    } catch {
      // Its page is gone, or its link; if it is not, it must not wait for ever.
      this.#link.post('Fetch.failRequest', { requestId, errorReason: 'Failed' }, sessionId);
    } finally {
      if (this.#underWay.get(networkId)?.abort === abort) this.#underWay.delete(networkId);
    }
  }

  /** The headers to send, with those that the browser would have added. */
  async #headers(paused: PausedRequest, changes: ContinueFields): Promise<Record<string, string>> {
    const { sessionId, networkId } = paused;
    if (!changes.headers) await this.#pageHeaders.settled(networkId, paused.headers);
    const headers = requestHeaders(paused, changes, this.#pageHeaders);
    if (networkId !== undefined && this.#bodiless.delete(networkId)) {
      for (const name of Object.keys(headers)) if (/^content-/i.test(name)) delete headers[name];
    }
    const session = this.#sessions.get(sessionId);
    if (!session) return headers;
    return await this.#implied.complete(headers, { sessionId, ...session, isNavigation: paused.isNavigation });
  }

  /** What was posted is asked for where the answer says so, without its body, and what was said of that. */
  #noteRedirect({ networkId }: PausedRequest, method: string, outcome: BridgeOutcome): void {
    if (networkId === undefined || 'failure' in outcome || /^(GET|HEAD)$/.test(method)) return;
    const isDropped = outcome.status === 303 || (method === 'POST' && /^30[12]$/.test(String(outcome.status)));
    if (isDropped) this.#bodiless.add(networkId);
  }

  /** Whether a script of a document may have asked for it, by a means that takes an answer in parts. */
  #isOfScript({ resourceType, sessionId, networkId }: PausedRequest): boolean {
    // A worker's is announced to the worker, and stopped with its page's.
    const isWorkers = (this.#pageHeaders.announcedTo(networkId) ?? sessionId) !== sessionId;
    return !isWorkers && /^(XHR|Fetch)$/.test(resourceType);
  }

  #mayDownload({ isNavigation, networkId }: PausedRequest): BridgeRequest['download'] {
    if (!isNavigation || !this.#downloads.areTaken) return 'never';
    // What a link with a `download` attribute leads to is no request of a page's.
    return networkId === undefined ? 'is' : 'may-be';
  }

  async #outcome(sessionId: string, request: Omit<BridgeRequest, 'ignoreHTTPSErrors'>): Promise<BridgeOutcome> {
    const { offline = false, ignoreHTTPSErrors = false } = this.#sessions.get(sessionId) ?? {};
    if (offline) return { failure: 'InternetDisconnected', detail: 'the page is offline' };
    return await this.#fetcher.fetch({ ...request, ignoreHTTPSErrors });
  }

  /** An answer that comes in parts, or is too large for the browser, goes to the script that asked for it, if one did. */
  async #inPieces(paused: PausedRequest, answer: BridgeAnswer, abort: AbortController | null): Promise<BridgeOutcome> {
    if (answer.isDownload) return this.#toDisk(paused, answer);
    if (abort && (await this.#largeAnswers.offer(paused, answer, abort))) return { ...answer, body: Buffer.alloc(0) };
    const body = await wholeOf(answer);
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
    const headers = answer.headers.filter(({ name }) => !/^content-length$/i.test(name));
    return { ...answer, headers, body: Buffer.alloc(0), rest: null };
  }

  /** What the page will call `net::ERR_FAILED` stands in its console with its reason. */
  #explain(sessionId: string, url: string, outcome: BridgeOutcome): void {
    if (!('failure' in outcome) || outcome.failure !== 'Failed') return;
    const text = `poolwright: ${new URL(url).host} was reached through the test machine, but ${outcome.detail}`;
    const entry = { source: 'network', level: 'error', text, url, timestamp: Date.now() };
    this.#link.deliver({ sessionId, method: 'Log.entryAdded', params: { entry } });
  }
}

import type { Protocol } from 'devtools-protocol';
import { dateNow, monotonicNow } from '../../../common/clock.ts';
import { type CdpMessage, type Fields, fieldsOf } from '../../message.ts';
import { SessionMap } from '../../model/per-session.ts';
import type { NetworkRequest } from '../../model/requests.ts';
import type { Session } from '../../model/session.ts';
import type { InterceptorTransport } from '../../transport/interceptor.ts';
import { headerOf, reportedText } from '../headers/header-list.ts';
import type { PausedRequest } from '../request/paused-request.ts';
import type { Outcome, ProxyResponse } from '../send/fetcher.ts';

/** The results of requests with one network ID: several if there are redirects. */
interface Reported {
  /** Responses that the browser has not announced yet. */
  coming: { response: ProxyResponse; isHeadReported: boolean }[];
  last: ProxyResponse | undefined;
  /** Chromium's own name for the failure: the browser was given another one. */
  netError: string | undefined;
}

/**
 * Reports to the client, for proxied requests, what the browser reports only for requests that it sends itself: the
 * request headers as sent, including cookies, and the response headers, including `Set-Cookie` (`Network.*ExtraInfo`);
 * the server, timing and size of a response; and Chromium's own error for a failed one.
 */
export class ReportedResponses {
  readonly #transport: InterceptorTransport;
  /** By network ID, which a document shares with its loader. */
  readonly #reported: SessionMap<string, Reported>;

  constructor(transport: InterceptorTransport) {
    this.#transport = transport;
    this.#reported = new SessionMap(transport.model);
  }

  /**
   * Reports the result of a proxied request before the browser gets it.
   * @param sent its headers, in wire text
   */
  report({ target, networkId: requestId }: PausedRequest, sent: Record<string, string>, outcome: Outcome): void {
    const sessionId = target.session.id;
    if (requestId === undefined || !this.#transport.model.session(sessionId)) return;
    const { coming = [], last } = this.#reported.get(requestId) ?? {};
    if ('failure' in outcome) {
      const { netError } = outcome;
      if (netError !== undefined) this.#reported.set(requestId, { coming, last, netError }, sessionId);
      return;
    }
    // Already reported with its head.
    if (last?.exchange === outcome.exchange) return;
    const next = { response: outcome, isHeadReported: false };
    this.#reported.set(requestId, { coming: [...coming, next], last: outcome, netError: undefined }, sessionId);
    const sentHeaders = Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, reportedText(value)]));
    const request = { requestId, headers: sentHeaders, associatedCookies: [] };
    const headersText = reportedText(outcome.exchange.head);
    const headers = headersByName(outcome);
    const response = { requestId, headers, headersText, statusCode: outcome.status, blockedCookies: [] };
    const to = this.#announcedIn(requestId, target.session);
    this.#transport.deliver({ sessionId: to, method: 'Network.requestWillBeSentExtraInfo', params: request });
    this.#transport.deliver({ sessionId: to, method: 'Network.responseReceivedExtraInfo', params: response });
  }

  /** The target's session in which the client knows the request: it may have enabled Network in another one only. */
  #announcedIn(requestId: string, session: Session): string {
    const announced = this.#transport.model.requests.get(requestId)?.session;
    return announced && announced.target === session.target ? announced.id : session.id;
  }

  /**
   * Reports the head of a response whose body is still arriving: the browser gets, and reports, both together later.
   * @param announced the request as the browser announced it
   */
  reportHead(
    paused: PausedRequest,
    sent: Record<string, string>,
    response: ProxyResponse,
    announced: NetworkRequest,
  ): void {
    this.report(paused, sent, response);
    const reported = this.#reported.get(String(paused.networkId))?.coming.at(-1);
    if (reported) reported.isHeadReported = true;
    const { loaderId, frameId, type, timestamp, at, session } = announced;
    const passed = monotonicNow() - at;
    const timing = { ...NO_TIMES, requestTime: timestamp, receiveHeadersStart: passed, receiveHeadersEnd: passed };
    const known = {
      url: paused.url,
      status: response.status,
      statusText: response.phrase,
      headers: {},
      mimeType: headerOf(response.received, 'content-type')?.split(';')[0]?.trim().toLowerCase() ?? '',
      charset: '',
      connectionReused: false,
      connectionId: 0,
      fromDiskCache: false,
      fromServiceWorker: false,
      fromPrefetchCache: false,
      responseTime: dateNow(),
      protocol: 'http/1.1',
      securityState: paused.url.startsWith('https:') ? 'secure' : 'insecure',
      timing,
    };
    const params = {
      requestId: paused.networkId,
      loaderId,
      timestamp: timestamp + passed / 1000,
      type,
      response: completed(known, response),
      hasExtraInfo: true,
      ...(frameId !== undefined && { frameId }),
    };
    this.#transport.deliver({ sessionId: session.id, method: 'Network.responseReceived', params });
  }

  /**
   * Returns a message from the browser, completed with what is known about its response; null if it was already
   * reported.
   */
  correct(message: CdpMessage): CdpMessage | null {
    const { method = '', params, id } = message;
    if (this.#reported.size === 0) return message;
    if (id !== undefined) return this.#correctNavigate(message);
    if (!method.startsWith('Network.')) return message;
    const { requestId, redirectResponse } = fieldsOf<Protocol.Network.RequestWillBeSentEvent>(params);
    const reported = this.#reported.get(String(requestId));
    if (!reported) return message;
    const changed = (changes: object) => ({ ...message, params: { ...fieldsOf(params), ...changes } });
    const { coming, last, netError } = reported;
    if (method === 'Network.loadingFailed' && netError !== undefined) {
      // The response to `Page.navigate` is still to come.
      Object.assign(reported, { coming: [], last: undefined });
      return changed({ errorText: netError });
    }
    if (method === 'Network.loadingFailed' || method === 'Network.loadingFinished') {
      this.#reported.delete(String(requestId));
      const isFinished = method === 'Network.loadingFinished';
      return isFinished && last ? changed({ encodedDataLength: last.exchange.bytes() }) : message;
    }
    if (method === 'Network.responseReceived') {
      // The last one: redirects of a worker's script are not announced.
      const { response, isHeadReported } = coming.pop() ?? {};
      coming.length = 0;
      if (!response) return message;
      if (isHeadReported) return null;
      const known = fieldsOf<Protocol.Network.ResponseReceivedEvent>(params).response;
      return changed({ hasExtraInfo: true, response: completed(known, response) });
    }
    const before = method === 'Network.requestWillBeSent' && redirectResponse ? coming.shift() : undefined;
    if (!before) return message;
    return changed({ redirectHasExtraInfo: true, redirectResponse: completed(redirectResponse, before.response) });
  }

  /** The response to `Page.navigate` contains the error, too. */
  #correctNavigate(message: CdpMessage): CdpMessage {
    const { loaderId, errorText }: Fields<Protocol.Page.NavigateResponse> = fieldsOf(message.result);
    const error = errorText === undefined ? undefined : this.#reported.get(String(loaderId))?.netError;
    return error ? { ...message, result: { ...fieldsOf(message.result), errorText: error } } : message;
  }
}

/** Timing of a request when only its start and the arrival of its response's head are known. */
const NO_TIMES = {
  ...{ proxyStart: -1, proxyEnd: -1, dnsStart: -1, dnsEnd: -1, connectStart: -1, connectEnd: -1 },
  ...{ sslStart: -1, sslEnd: -1, workerStart: -1, workerReady: -1, workerFetchStart: -1, workerRespondWithSettled: -1 },
  ...{ sendStart: 0, sendEnd: 0, pushStart: 0, pushEnd: 0 },
};

/** The browser's report of a response, completed. */
function completed(described: unknown, response: ProxyResponse): object {
  const { server, waited, head } = response.exchange;
  const known: Fields<Protocol.Network.Response> = fieldsOf(described);
  const timing = fieldsOf<Protocol.Network.ResourceTiming>(known.timing);
  const { securityDetails, ...where } = server ?? {};
  const headAt = Number(timing.receiveHeadersEnd ?? -1);
  // The time between the browser and this machine comes before the time spent waiting for the server.
  const sent = Math.max(0, headAt - waited);
  const received = Object.entries(headersByName(response)).filter(([name]) => !/^set-cookie$/i.test(name));
  return {
    ...known,
    // Including headers that the browser did not get, because they no longer matched its body.
    headers: { ...Object.fromEntries(received), ...fieldsOf(known.headers) },
    encodedDataLength: head.length,
    ...where,
    ...(securityDetails && { securityDetails }),
    ...(headAt >= 0 && { timing: { ...timing, sendStart: sent, sendEnd: sent } }),
  };
}

/** Headers by name, in CDP's format: several values of one name as lines. */
function headersByName({ received }: ProxyResponse): Record<string, string> {
  const byName = new Map<string, [name: string, text: string]>();
  for (const { name, value } of received) {
    const text = reportedText(value);
    const before = byName.get(name.toLowerCase());
    byName.set(name.toLowerCase(), before ? [before[0], `${before[1]}\n${text}`] : [name, text]);
  }
  return Object.fromEntries(byName.values());
}

import type { Protocol } from 'devtools-protocol';
import { SessionMap } from '../../model/per-session.ts';
import type { InterceptorLink } from '../../transport/interceptor.ts';
import { type CdpMessage, type Fields, fieldsOf } from '../../transport/message.ts';
import type { BridgeAnswer, BridgeOutcome } from '../requests/bridge-fetch.ts';
import type { PausedRequest } from '../requests/paused-request.ts';
import { reportedText } from './header-bytes.ts';
import type { Announced } from './page-headers.ts';

/** What was told of the answers under one network ID: several where there are redirects. */
interface Told {
  /** Still to be announced by the browser. */
  coming: BridgeAnswer[];
  last: BridgeAnswer;
}

/**
 * Tells the client of carried requests what the browser reports only of what it sends itself: the headers as they crossed
 * the network, cookies included, those of their answers, `Set-Cookie` included (`Network.*ExtraInfo`), and of an answer
 * its server, its time and its size.
 */
export class ExtraInfo {
  readonly #link: InterceptorLink;
  readonly #told: SessionMap<unknown, Told>;
  /** Answers whose head was reported before the browser was handed them. */
  readonly #early = new WeakSet<BridgeAnswer['exchange']>();

  constructor(link: InterceptorLink) {
    this.#link = link;
    this.#told = new SessionMap(link.model);
  }

  /**
   * To be told of a carried request before the browser is handed its answer.
   * @param sent its headers, in wire text
   */
  tell({ sessionId, networkId: requestId }: PausedRequest, sent: Record<string, string>, outcome: BridgeOutcome): void {
    if (requestId === undefined || 'failure' in outcome || this.#early.has(outcome.exchange)) return;
    const coming = this.#told.get(requestId)?.coming ?? [];
    this.#told.set(requestId, { coming: [...coming, outcome], last: outcome }, sessionId);
    const sentHeaders = Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, reportedText(value)]));
    const request = { requestId, headers: sentHeaders, associatedCookies: [] };
    const headersText = reportedText(outcome.exchange.head);
    const headers = reported(outcome);
    const response = { requestId, headers, headersText, statusCode: outcome.status, blockedCookies: [] };
    this.#link.deliver({ sessionId, method: 'Network.requestWillBeSentExtraInfo', params: request });
    this.#link.deliver({ sessionId, method: 'Network.responseReceivedExtraInfo', params: response });
  }

  /**
   * Reports the head of an answer whose body is still coming: the browser is handed both at once, and reports them then.
   * @param announced what the browser said of the request
   */
  tellHead(paused: PausedRequest, sent: Record<string, string>, answer: BridgeAnswer, announced: Announced): void {
    this.tell(paused, sent, answer);
    this.#early.add(answer.exchange);
    const { loaderId, frameId, type, timestamp, at, sessionId } = announced;
    const passed = performance.now() - at;
    const timing = { ...NO_TIMES, requestTime: timestamp, receiveHeadersStart: passed, receiveHeadersEnd: passed };
    const contentType = answer.received.find(({ name }) => /^content-type$/i.test(name))?.value ?? '';
    const known = {
      url: paused.url,
      status: answer.status,
      statusText: answer.phrase,
      headers: {},
      mimeType: contentType.split(';')[0]?.trim().toLowerCase() ?? '',
      charset: '',
      connectionReused: false,
      connectionId: 0,
      fromDiskCache: false,
      fromServiceWorker: false,
      fromPrefetchCache: false,
      responseTime: Date.now(),
      protocol: 'http/1.1',
      securityState: paused.url.startsWith('https:') ? 'secure' : 'insecure',
      timing,
    };
    const params = {
      requestId: paused.networkId,
      loaderId,
      timestamp: timestamp + passed / 1000,
      type,
      response: completed(known, answer),
      hasExtraInfo: true,
      ...(frameId !== undefined && { frameId }),
    };
    const session = sessionId ?? paused.sessionId;
    this.#link.deliver({ sessionId: session, method: 'Network.responseReceived', params });
  }

  /** Returns an event of the browser, with what is known of the answer that it is about; null for what was reported. */
  correct(message: CdpMessage): CdpMessage | null {
    if (this.#told.size === 0) return message;
    const { method, params } = message;
    const { requestId, redirectResponse } = fieldsOf<Protocol.Network.RequestWillBeSentEvent>(params);
    const told = this.#told.get(requestId);
    if (!told) return message;
    const changed = (changes: object) => ({ ...message, params: { ...fieldsOf(params), ...changes } });
    if (method === 'Network.responseReceived') {
      // The last one: of a worker's script the redirects before it are not announced.
      const answer = told.coming.pop();
      told.coming.length = 0;
      if (answer && this.#early.has(answer.exchange)) return null;
      const { response } = fieldsOf<Protocol.Network.ResponseReceivedEvent>(params);
      return answer ? changed({ hasExtraInfo: true, response: completed(response, answer) }) : message;
    }
    if (method === 'Network.requestWillBeSent' && redirectResponse) {
      const answer = told.coming.shift();
      if (!answer) return message;
      return changed({ redirectHasExtraInfo: true, redirectResponse: completed(redirectResponse, answer) });
    }
    if (method === 'Network.loadingFinished' || method === 'Network.loadingFailed') this.#told.delete(requestId);
    return method === 'Network.loadingFinished' ? changed({ encodedDataLength: told.last.exchange.bytes() }) : message;
  }
}

/** Times of a request of which only the beginning and the head of its answer are known. */
const NO_TIMES = {
  proxyStart: -1,
  proxyEnd: -1,
  dnsStart: -1,
  dnsEnd: -1,
  connectStart: -1,
  connectEnd: -1,
  sslStart: -1,
  sslEnd: -1,
  workerStart: -1,
  workerReady: -1,
  workerFetchStart: -1,
  workerRespondWithSettled: -1,
  sendStart: 0,
  sendEnd: 0,
  pushStart: 0,
  pushEnd: 0,
};

/** The browser's word of an answer, completed. */
function completed(response: unknown, answer: BridgeAnswer): object {
  const { server, waited, head } = answer.exchange;
  const known: Fields<Protocol.Network.Response> = fieldsOf(response);
  const timing = fieldsOf<Protocol.Network.ResourceTiming>(known.timing);
  const { securityDetails, ...where } = server ?? {};
  const answered = Number(timing.receiveHeadersEnd ?? -1);
  // The way between the browser and this machine is before what it waited for the server.
  const sent = Math.max(0, answered - waited);
  const received = Object.entries(reported(answer)).filter(([name]) => !/^set-cookie$/i.test(name));
  return {
    ...known,
    // Those that the browser was not handed too, because they were no longer true of what it was handed.
    headers: { ...Object.fromEntries(received), ...fieldsOf(known.headers) },
    encodedDataLength: head.length,
    ...where,
    ...(securityDetails && { securityDetails }),
    ...(answered >= 0 && { timing: { ...timing, sendStart: sent, sendEnd: sent } }),
  };
}

/** Headers by name, as CDP has them: several of one name in lines. */
function reported({ received }: BridgeAnswer): Record<string, string> {
  const byName = new Map<string, [name: string, text: string]>();
  for (const { name, value } of received) {
    const text = reportedText(value);
    const before = byName.get(name.toLowerCase());
    byName.set(name.toLowerCase(), before ? [before[0], `${before[1]}\n${text}`] : [name, text]);
  }
  return Object.fromEntries(byName.values());
}

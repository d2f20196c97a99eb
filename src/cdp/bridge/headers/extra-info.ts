import type { Protocol } from 'devtools-protocol';
import type { InterceptorLink } from '../../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';
import type { BridgeOutcome } from '../bridge-fetch.ts';
import type { PausedRequest } from '../paused-request.ts';
import { reportedText } from './header-bytes.ts';

/**
 * Tells Playwright the headers of carried requests as they crossed the network, cookies included, and of their answers,
 * `Set-Cookie` included. The browser reports those two (`Network.*ExtraInfo`) only of what it sends itself.
 */
export class ExtraInfo {
  readonly #link: InterceptorLink;
  /** How many answers under a network ID are still to be announced as having them. */
  readonly #told = new Map<unknown, { sessionId: string; left: number }>();

  constructor(link: InterceptorLink) {
    this.#link = link;
  }

  /**
   * To be told of a carried request before the browser is handed its answer.
   * @param sent its headers, in wire text
   */
  tell({ sessionId, networkId: requestId }: PausedRequest, sent: Record<string, string>, outcome: BridgeOutcome): void {
    if (requestId === undefined || 'failure' in outcome) return;
    this.#told.set(requestId, { sessionId, left: (this.#told.get(requestId)?.left ?? 0) + 1 });
    const byName = new Map<string, [name: string, text: string]>();
    for (const { name, value } of outcome.received) {
      const text = reportedText(value);
      const before = byName.get(name.toLowerCase());
      // As CDP has several of one name.
      byName.set(name.toLowerCase(), before ? [before[0], `${before[1]}\n${text}`] : [name, text]);
    }
    const headers = Object.fromEntries(byName.values());
    const sentHeaders = Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, reportedText(value)]));
    const request = { requestId, headers: sentHeaders, associatedCookies: [] };
    const response = { requestId, headers, statusCode: outcome.status, blockedCookies: [] };
    this.#link.deliver({ sessionId, method: 'Network.requestWillBeSentExtraInfo', params: request });
    this.#link.deliver({ sessionId, method: 'Network.responseReceivedExtraInfo', params: response });
  }

  /** Returns an event of the browser; of an answer whose headers were told, it says so. */
  correct(message: CdpMessage): CdpMessage {
    if (this.#told.size === 0) return message;
    const { method, params } = message;
    const { requestId, redirectResponse } = fieldsOf<Protocol.Network.RequestWillBeSentEvent>(params);
    if (method === 'Network.responseReceived' && this.#takeOne(requestId)) {
      return { ...message, params: { ...fieldsOf(params), hasExtraInfo: true } };
    }
    if (method === 'Network.requestWillBeSent' && redirectResponse && this.#takeOne(requestId)) {
      return { ...message, params: { ...fieldsOf(params), redirectHasExtraInfo: true } };
    }
    if (method === 'Network.loadingFinished' || method === 'Network.loadingFailed') this.#told.delete(requestId);
    return message;
  }

  /** A page is gone. */
  forget(gone: string): void {
    for (const [requestId, { sessionId }] of this.#told) if (sessionId === gone) this.#told.delete(requestId);
  }

  #takeOne(requestId: unknown): boolean {
    const told = this.#told.get(requestId);
    if (!told) return false;
    told.left -= 1;
    if (told.left === 0) this.#told.delete(requestId);
    return true;
  }
}

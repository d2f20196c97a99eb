import type { CdpMessage } from '../../transport/message.ts';
import type { BridgeOutcome } from '../bridge-fetch.ts';
import type { PausedRequest } from '../paused-request.ts';
import { reportedText } from './header-bytes.ts';

interface ResponseFields {
  requestId?: unknown;
  hasExtraInfo?: boolean;
  redirectResponse?: unknown;
  redirectHasExtraInfo?: boolean;
}

/**
 * Tells Playwright the headers of carried requests as they crossed the network, cookies included, and of their answers,
 * `Set-Cookie` included. The browser reports those two (`Network.*ExtraInfo`) only of what it sends itself.
 */
export class ExtraInfo {
  readonly #pass: (message: CdpMessage) => void;
  /** How many answers under a network ID are still to be announced as having them. */
  readonly #told = new Map<unknown, number>();

  /** @param pass hands Playwright a message as if it came from the browser */
  constructor(pass: (message: CdpMessage) => void) {
    this.#pass = pass;
  }

  /**
   * To be told of a carried request before the browser is handed its answer.
   * @param sent its headers, in wire text
   */
  tell({ sessionId, networkId: requestId }: PausedRequest, sent: Record<string, string>, outcome: BridgeOutcome): void {
    if (requestId === undefined || 'failure' in outcome) return;
    this.#told.set(requestId, (this.#told.get(requestId) ?? 0) + 1);
    const byName = new Map<string, [name: string, text: string]>();
    for (const { name, value } of outcome.headers) {
      const text = reportedText(value);
      const before = byName.get(name.toLowerCase());
      // As CDP has several of one name.
      byName.set(name.toLowerCase(), before ? [before[0], `${before[1]}\n${text}`] : [name, text]);
    }
    const headers = Object.fromEntries(byName.values());
    const sentHeaders = Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, reportedText(value)]));
    const request = { requestId, headers: sentHeaders, associatedCookies: [] };
    const response = { requestId, headers, statusCode: outcome.status, blockedCookies: [] };
    this.#pass({ sessionId, method: 'Network.requestWillBeSentExtraInfo', params: request });
    this.#pass({ sessionId, method: 'Network.responseReceivedExtraInfo', params: response });
  }

  /** Corrects an event of the browser about an answer whose headers were told. */
  correct({ method, params }: CdpMessage): void {
    if (this.#told.size === 0 || params === undefined) return;
    const fields: ResponseFields = params;
    if (method === 'Network.responseReceived' && this.#takeOne(fields.requestId)) fields.hasExtraInfo = true;
    if (method === 'Network.requestWillBeSent' && fields.redirectResponse && this.#takeOne(fields.requestId)) {
      fields.redirectHasExtraInfo = true;
    }
    if (method === 'Network.loadingFinished' || method === 'Network.loadingFailed') this.#told.delete(fields.requestId);
  }

  #takeOne(requestId: unknown): boolean {
    const left = this.#told.get(requestId) ?? 0;
    if (left > 1) this.#told.set(requestId, left - 1);
    else this.#told.delete(requestId);
    return left > 0;
  }
}

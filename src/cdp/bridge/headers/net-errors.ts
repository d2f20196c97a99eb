import type { Protocol } from 'devtools-protocol';
import type { BrowserModel } from '../../model/browser-model.ts';
import { SessionMap } from '../../model/per-session.ts';
import { type CdpMessage, type Fields, fieldsOf } from '../../transport/message.ts';
import type { BridgeOutcome } from '../requests/bridge-fetch.ts';
import type { PausedRequest } from '../requests/paused-request.ts';

/** Tells Playwright of carried requests that fail the errors that Chromium has for them; the browser was told another. */
export class NetErrors {
  /** By network ID, which a document shares with its loader. */
  readonly #errors: SessionMap<string, string>;

  constructor(model: BrowserModel) {
    this.#errors = new SessionMap(model);
  }

  /** To be told before the browser is. */
  tell({ networkId, sessionId }: PausedRequest, outcome: BridgeOutcome): void {
    if (networkId === undefined || !('failure' in outcome) || outcome.netError === undefined) return;
    this.#errors.set(networkId, outcome.netError, sessionId);
  }

  /** Returns a message of the browser with the error that was meant. */
  correct(message: CdpMessage): CdpMessage {
    if (this.#errors.size === 0) return message;
    if (message.method === 'Network.loadingFailed') {
      const { requestId } = fieldsOf<Protocol.Network.LoadingFailedEvent>(message.params);
      const error = this.#errors.get(String(requestId));
      return error ? { ...message, params: { ...fieldsOf(message.params), errorText: error } } : message;
    }
    // The answer to `Page.navigate`.
    const { loaderId, errorText }: Fields<Protocol.Page.NavigateResponse> = fieldsOf(message.result);
    const error = errorText === undefined ? undefined : this.#errors.get(String(loaderId));
    return error ? { ...message, result: { ...fieldsOf(message.result), errorText: error } } : message;
  }
}

import { randomUUID } from 'node:crypto';
import { dateNow, monotonicNow } from '../../../common/clock.ts';
import type { InterceptorTransport } from '../../transport/interceptor.ts';

/** Frame opcodes (RFC 6455). */
const TEXT = 1;
const BINARY = 2;

/** Reports a proxied WebSocket to the client like the browser's own: needed for `page.on('websocket')` and HAR. */
export class WebSocketEvents {
  readonly #sessionId: string;
  readonly #transport: InterceptorTransport;
  readonly #url: string;
  readonly #requestId = randomUUID();
  /** The handshake has succeeded. */
  isOpen = false;

  constructor(transport: InterceptorTransport, sessionId: string, url: string) {
    this.#sessionId = sessionId;
    this.#transport = transport;
    this.#url = url;
    this.#report('webSocketCreated', { url });
  }

  /** @param headers of the handshake */
  sending(headers: Record<string, string>): void {
    this.#report('webSocketWillSendHandshakeRequest', { wallTime: dateNow() / 1000, request: { headers } });
  }

  /** @param headers of the server's response */
  opened(headers: Record<string, string>): void {
    this.isOpen = true;
    const response = { status: 101, statusText: 'Switching Protocols', headers };
    this.#report('webSocketHandshakeResponseReceived', { response });
  }

  /** @param data text, or base64 for binary data */
  sent(data: string, binary: boolean): void {
    this.#report('webSocketFrameSent', { response: frame(data, binary) });
  }

  /** @param data text, or base64 for binary data */
  received(data: string, binary: boolean): void {
    this.#report('webSocketFrameReceived', { response: frame(data, binary) });
  }

  /** Also in the console, where a browser explains it. */
  failed(errorMessage: string): void {
    this.#report('webSocketFrameError', { errorMessage });
    const text = `WebSocket connection to '${this.#url}' failed: ${errorMessage}`;
    const entry = { source: 'network', level: 'error', text, timestamp: dateNow() };
    this.#transport.deliver({ sessionId: this.#sessionId, method: 'Log.entryAdded', params: { entry } });
  }

  closed(): void {
    this.#report('webSocketClosed', {});
  }

  #report(event: string, fields: object): void {
    const params = { requestId: this.#requestId, timestamp: monotonicNow() / 1000, ...fields };
    this.#transport.deliver({ sessionId: this.#sessionId, method: `Network.${event}`, params });
  }
}

function frame(payloadData: string, binary: boolean): object {
  return { opcode: binary ? BINARY : TEXT, mask: false, payloadData };
}

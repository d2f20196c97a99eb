import { randomUUID } from 'node:crypto';
import type { InterceptorLink } from '../../transport/interceptor.ts';

/** Opcodes of frames (RFC 6455). */
const TEXT = 1;
const BINARY = 2;

/** Tells Playwright of a carried WebSocket what the browser tells it of its own: `page.on('websocket')` and HAR live on it. */
export class WebSocketEvents {
  readonly #sessionId: string;
  readonly #link: InterceptorLink;
  readonly #requestId = randomUUID();

  constructor(link: InterceptorLink, sessionId: string, url: string) {
    this.#sessionId = sessionId;
    this.#link = link;
    this.#tell('webSocketCreated', { url });
    this.#tell('webSocketWillSendHandshakeRequest', { wallTime: Date.now() / 1000, request: { headers: {} } });
  }

  opened(): void {
    const response = { status: 101, statusText: 'Switching Protocols', headers: {} };
    this.#tell('webSocketHandshakeResponseReceived', { response });
  }

  /** @param data text, or base64 of what is binary */
  sent(data: string, binary: boolean): void {
    this.#tell('webSocketFrameSent', { response: frame(data, binary) });
  }

  /** @param data text, or base64 of what is binary */
  received(data: string, binary: boolean): void {
    this.#tell('webSocketFrameReceived', { response: frame(data, binary) });
  }

  failed(errorMessage: string): void {
    this.#tell('webSocketFrameError', { errorMessage });
  }

  closed(): void {
    this.#tell('webSocketClosed', {});
  }

  #tell(event: string, fields: object): void {
    const params = { requestId: this.#requestId, timestamp: performance.now() / 1000, ...fields };
    this.#link.deliver({ sessionId: this.#sessionId, method: `Network.${event}`, params });
  }
}

function frame(payloadData: string, binary: boolean): object {
  return { opcode: binary ? BINARY : TEXT, mask: false, payloadData };
}

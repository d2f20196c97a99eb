import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';

/**
 * Watches one WebSocket handshake from underneath. Undici's WebSocket says of every failure only that there was one;
 * the HTTP status and the network error are seen here, and so is the socket, without which a dead link cannot be cut.
 */
export class Handshake {
  /** HTTP status of the answer, if there was one. */
  status: number | undefined;
  /** What kept the answer from coming. May hold the address. */
  error: Error | undefined;
  /** The connection itself, once upgraded. */
  stream: Socket | undefined;

  readonly interceptor: Dispatcher.DispatchInterceptor = (dispatch) => (options, handler) =>
    dispatch(options, {
      onRequestStart: (...args) => handler.onRequestStart?.(...args),
      onRequestUpgrade: (controller, status, headers, stream) => {
        this.status = status;
        // A connection over the network is one, with or without TLS.
        this.stream = stream as Socket;
        return handler.onRequestUpgrade?.(controller, status, headers, stream);
      },
      onResponseStart: (controller, status, headers, text) => {
        this.status = status;
        return handler.onResponseStart?.(controller, status, headers, text);
      },
      onResponseData: (...args) => handler.onResponseData?.(...args),
      onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
      onResponseError: (controller, error) => {
        this.error = error;
        return handler.onResponseError?.(controller, error);
      },
    });
}

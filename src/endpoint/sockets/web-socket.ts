import { constants } from 'node:buffer';
import { type WebSocket, WebSocketServer } from 'ws';
import { clearTimeout, setTimeout } from '../../common/clock.ts';
import { redactText } from '../../redact.ts';

/** WebSocket close codes. */
export const NORMAL = 1000;
export const POLICY_VIOLATION = 1008;
export const INTERNAL_ERROR = 1011;
/** The most bytes that the reason in a close frame may have. */
const MAX_REASON_BYTES = 123;

/** Messages pass as the browser sends them: not compressed, and as long as a string may be. */
export const WHOLE_MESSAGES = { perMessageDeflate: false, maxPayload: constants.MAX_STRING_LENGTH } as const;

export function toolSockets(): WebSocketServer {
  return new WebSocketServer({ noServer: true, ...WHOLE_MESSAGES });
}

/** Closes a socket with a reason, without secrets, and shortened to what fits. */
export function closeSocket(socket: WebSocket, code: number, reason: string): void {
  const text = [...redactText(reason)];
  while (Buffer.byteLength(text.join('')) > MAX_REASON_BYTES) text.splice(-Math.max(1, text.length >> 4));
  socket.close(code, text.join(''));
  // A paused one does not see the other end's response, which ends the connection.
  socket.resume();
}

/** Closes a socket that sends no message within so many ms. */
export function closeIfSilent(socket: WebSocket, ms: number): void {
  const timer = setTimeout(() => closeSocket(socket, POLICY_VIOLATION, `No message within ${ms / 1000} s.`), ms);
  for (const event of ['message', 'close']) socket.once(event, () => clearTimeout(timer));
}

/** Bytes that may wait in a socket before its source is paused. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/** Returns a function that sends a message. While too many bytes wait for the receiver, the source is paused. */
export function boundedSend(
  socket: WebSocket,
  source: { pause(): unknown; resume(): unknown },
): (text: string) => void {
  return (text) => {
    socket.send(text, (error) => {
      if (error || socket.bufferedAmount <= MAX_WAITING_BYTES) source.resume();
    });
    if (socket.bufferedAmount > MAX_WAITING_BYTES) source.pause();
  };
}

import type { WebSocket } from 'ws';

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

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { RELAY_PATH } from './protocol.ts';

/** Why a worker is not served: an HTTP status, and a sentence without a secret. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** How long a refused worker may take to read why, in ms. */
const REFUSED_MS = 10_000;

/** Sends a refusal in place of a WebSocket, and closes the connection, whatever the other side does. */
export function refuse(socket: Duplex, { status, message }: Refusal): void {
  const lines = [
    `HTTP/1.1 ${status} Refused`,
    'connection: close',
    'content-type: text/plain',
    `content-length: ${Buffer.byteLength(message)}`,
  ];
  const timer = setTimeout(() => socket.destroy(), REFUSED_MS);
  socket.once('close', () => clearTimeout(timer));
  // What it still sends would hide its end.
  socket.resume();
  socket.once('end', () => socket.destroy());
  socket.end(`${lines.join('\r\n')}\r\n\r\n${message}`);
}

/** The headers that the process of a lease gets. The token is not among them. */
const PASSED_ON = [
  'connection',
  'upgrade',
  'sec-websocket-key',
  'sec-websocket-version',
  'sec-websocket-extensions',
  'user-agent',
];

/** The head of a request for the process of a lease. */
export function requestHead({ headers }: IncomingMessage): string {
  const lines = PASSED_ON.flatMap((name) => (headers[name] === undefined ? [] : [`${name}: ${headers[name]}`]));
  return `GET ${RELAY_PATH} HTTP/1.1\r\nhost: relay\r\n${lines.join('\r\n')}\r\n\r\n`;
}

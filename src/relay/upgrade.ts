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

/** Sends a refusal in place of a WebSocket, and closes the connection. */
export function refuse(socket: Duplex, { status, message }: Refusal): void {
  const lines = [
    `HTTP/1.1 ${status} Refused`,
    'connection: close',
    'content-type: text/plain',
    `content-length: ${Buffer.byteLength(message)}`,
  ];
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

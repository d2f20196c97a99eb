import { constants } from 'node:buffer';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { WebSocket } from 'ws';
import type { ConnectionClosed } from '../../../cdp/transport/connection-closed.ts';
import type { SocketTraffic } from '../../../cdp/transport/open-socket.ts';
import { clearTimeout, setTimeout } from '../../../common/clock.ts';
import { deferred } from '../../../common/deferred.ts';
import { within } from '../../../common/pause.ts';
import { redactText } from '../../../redact.ts';
import {
  type FromRelay,
  frame,
  fromRelay,
  type Open,
  RELAY_PATH,
  type RelayFigures,
  readFrame,
} from '../../../relay/protocol.ts';
import { type Destination, isStreamFrame, Streams, type TunnelStream } from '../../../relay/streams.ts';

/** How a relay is reached. */
export interface RelayAccess {
  /** Its address, without a path. */
  address: string;
  /** From the broker, for one browser. A secret. */
  token: string;
  /** Playwright's, from which the relay knows its version. */
  userAgent: string;
  /** ms */
  timeout: number;
}

/** Callbacks of a connection to a relay. */
export interface RelayEvents {
  /** A message of Playwright's protocol. */
  onText(text: string): void;
  onNotCarried(text: string): void;
  /** A page was not allowed to reach an address that the test visits. */
  onDenied(url: string): void;
  /** The relay connects to a server from this machine. */
  onDial(stream: TunnelStream, to: Destination): void;
}

/** Why there is no connection through a relay. Contains no secret. */
export class RelayFailure extends Error {}

export const NO_FIGURES: RelayFigures = {
  observedBytes: null,
  commands: 0,
  roundTripMs: null,
  savedMs: 0,
  fault: null,
};
/** Messages of this size or more are compressed, in bytes. */
const DEFLATED_BYTES = 10 * 1024;
/** Those of this length or more are files that a test uploads: compressing them takes longer than it saves. */
const FILE_LENGTH = 64 * 1024;
/** Time limit for the close frame of the other side, in ms. */
const GOODBYE_MS = 3_000;

/** A worker's connection to the process of its lease at a relay. */
export class RelayConnection {
  figures = NO_FIGURES;
  /** Whether the browser's pages have separate windows. */
  haveWindows = true;
  /** Resolves when the link, or the connection behind it, is closed. */
  readonly closed: Promise<ConnectionClosed>;
  readonly #socket: WebSocket;
  readonly #stream: Socket;
  readonly #events: RelayEvents;
  readonly #asked = new Map<number, (error: string | null) => void>();
  /** With the reason why it could not be opened, or null. */
  readonly #opened = deferred<string | null>();
  #lastAsked = 0;
  #closing = false;
  #loss: ConnectionClosed | null = null;

  /**
   * Connects to a relay, and lets it connect to a browser.
   * @throws RelayFailure
   */
  static async open(access: RelayAccess, browser: Open, events: RelayEvents): Promise<RelayConnection> {
    const { socket, stream } = await openSocket(access);
    const connection = new RelayConnection(socket, stream, events);
    const { promise: opened, resolve } = connection.#opened;
    void connection.closed.then(({ reason }) => resolve(reason || 'it closed the connection'));
    socket.send(frame(browser));
    const failure = await within(opened, access.timeout, 'it did not connect in time');
    if (failure === null) return connection;
    connection.close();
    throw new RelayFailure(failure);
  }

  private constructor(socket: WebSocket, stream: Socket, events: RelayEvents) {
    this.#socket = socket;
    this.#stream = stream;
    this.#events = events;
    const streams = new Streams((data, sent) => socket.send(data, sent), events.onDial);
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary && isStreamFrame(data)) streams.receive(data);
      else if (isBinary) this.#control(readFrame(fromRelay, data));
      else events.onText(data.toString());
    });
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => {
        for (const settle of this.#asked.values()) settle('the connection is closed');
        streams.end();
        const own = { code, reason: redactText(reason.toString()), byUs: this.#closing };
        resolve(this.#loss ?? own);
      });
    });
  }

  /** Sends a message of Playwright's protocol. */
  send(message: string): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#socket.send(message, { compress: message.length < FILE_LENGTH });
  }

  /** Checks that the browser still responds. @throws Error if it does not */
  async ask(): Promise<void> {
    const error = await this.#check('ask');
    if (error !== null) throw new RelayFailure(error);
  }

  /** See `BrowserHealth.clean`. */
  async clean(): Promise<string | null> {
    return await this.#check('clean');
  }

  async #check(type: 'ask' | 'clean'): Promise<string | null> {
    this.#lastAsked += 1;
    const id = this.#lastAsked;
    const checked = new Promise<string | null>((resolve) => this.#asked.set(id, resolve));
    this.#socket.send(frame({ type, id }));
    return await checked;
  }

  traffic(): SocketTraffic {
    const { bytesRead, bytesWritten } = this.#stream;
    return { received: bytesRead, sent: bytesWritten, queued: this.#socket.bufferedAmount };
  }

  close(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#socket.close();
    const timer = setTimeout(() => this.#socket.terminate(), GOODBYE_MS);
    void this.closed.then(() => clearTimeout(timer));
  }

  #control(message: FromRelay | null): void {
    switch (message?.type) {
      case 'opened':
        this.haveWindows = message.haveWindows;
        this.#opened.resolve(null);
        return;
      case 'failed':
        this.#opened.resolve(redactText(message.reason));
        return;
      case 'figures': {
        const { type: _, ...figures } = message;
        this.figures = figures;
        return;
      }
      case 'notCarried':
        this.#events.onNotCarried(message.text);
        return;
      case 'denied':
        this.#events.onDenied(message.url);
        return;
      case 'answered':
        this.#asked.get(message.id)?.(message.error);
        this.#asked.delete(message.id);
        return;
      case 'closed':
        this.#loss = { code: message.code, reason: redactText(message.reason), byUs: this.#closing };
        return;
      default:
        this.#socket.terminate();
    }
  }
}

interface Opened {
  socket: WebSocket;
  stream: Socket;
}

async function openSocket({ address, token, userAgent, timeout }: RelayAccess): Promise<Opened> {
  const socket = new WebSocket(new URL(RELAY_PATH, address), {
    headers: { authorization: `Bearer ${token}`, 'user-agent': userAgent },
    handshakeTimeout: timeout,
    maxPayload: constants.MAX_STRING_LENGTH,
    maxFragments: 0,
    maxBufferedChunks: 0,
    perMessageDeflate: { clientNoContextTakeover: true, serverNoContextTakeover: true, threshold: DEFLATED_BYTES },
  });
  return await new Promise<Opened>((resolve, reject) => {
    let stream: Socket | undefined;
    socket.once('upgrade', (response) => {
      stream = response.socket;
    });
    socket.once('open', () => stream && resolve({ socket, stream }));
    socket.once('unexpected-response', (_request, response) => {
      void text(response)
        .catch(() => '')
        .then((body) => reject(new RelayFailure(redactText(body.slice(0, 500)) || `HTTP ${response.statusCode}`)))
        .finally(() => socket.terminate());
    });
    socket.on('error', (error: NodeJS.ErrnoException) => reject(new RelayFailure(error.code ?? 'no connection')));
  });
}

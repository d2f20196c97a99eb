import type { LookupFunction } from 'node:net';
import type { WebSocket } from 'ws';
import { clearTimeout, setImmediate, setTimeout } from '../../common/clock.ts';
import { redactText } from '../../redact.ts';
import { type CdpMessage, parseMessage } from '../message.ts';
import { type ConnectionClosed, describeClosed } from './connection-closed.ts';
import type { InterceptorFactory } from './interceptor.ts';
import { InterceptorList } from './interceptor-list.ts';
import { type OpenSocket, openSocket, type SocketTraffic } from './open-socket.ts';

/**
 * A connection that a client uses instead of an address (`chromium.connectOverCDP()` since Playwright 1.61,
 * `puppeteer.connect()`). It reports how the connection ended. With an address, the client opens the socket itself:
 * then nothing can be intercepted, the address appears in the client's logs and errors, and the reason for a lost
 * connection is unknown.
 */
export interface CdpTransport {
  /** @param text the same message as text, if the client has it: saves serializing it again */
  send(message: object, text?: string): void;
  /** Closes the connection; the browser keeps running. */
  close(): void;
  /** @param text the message as received, if nothing has changed it: saves the client from serializing it again */
  onmessage?: ((message: object, text?: string) => void) | undefined;
  /** Called once, after the last message, with the reason as text. */
  onclose?: ((reason?: string) => void) | undefined;
  /** The number of commands that the client has sent. */
  readonly commands: number;
  /**
   * Checks that the browser still responds. Neither the client nor an interceptor sees this: a CDP session of the
   * client would work as well, but would look like a session that a test has opened.
   * @throws PoolwrightError when the connection is closed, or the browser does not respond within 60 s
   */
  ask(): Promise<unknown>;
  /** Traffic of the connection so far. */
  traffic(): SocketTraffic;
  /** Resolves as soon as the connection is closed, by either side. Never rejects. */
  readonly closed: Promise<ConnectionClosed>;
}

/** Limits on opening a connection, and the session it belongs to. */
export interface ConnectOptions {
  /** Time limit for opening the connection, in ms. Default: 30 000. */
  timeout?: number;
  /** The session that the browser belongs to, for errors. */
  sessionId?: string;
  /** Sent with the handshake. Secrets. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Resolves the host. Default: the system does. */
  lookup?: LookupFunction;
}

const OPEN_TIMEOUT_MS = 30_000;
/** Time limit for the other side's close frame, in ms: a dead peer never sends one. */
const GOODBYE_MS = 3_000;

/**
 * Opens a connection to a browser's `cdpUrl`.
 * @param interceptors in order from the client to the browser
 * @throws LeaseError `CONNECT_FAILED`, which contains only the host of `cdpUrl`
 */
export async function connectTransport(
  cdpUrl: string,
  { timeout = OPEN_TIMEOUT_MS, sessionId, headers, lookup }: ConnectOptions,
  interceptors: readonly InterceptorFactory[],
): Promise<CdpTransport> {
  return new SocketTransport(await openSocket(cdpUrl, { timeout, sessionId, headers, lookup }), cdpUrl, interceptors);
}

/** Its fields are `#private`: code that prints or serializes it sees neither the address nor the traffic. */
class SocketTransport implements CdpTransport {
  readonly closed: Promise<ConnectionClosed>;
  readonly traffic: () => SocketTraffic;
  onmessage: CdpTransport['onmessage'];

  readonly #socket: WebSocket;
  readonly #cut: () => void;
  readonly #interceptors: InterceptorList;
  #onclose: CdpTransport['onclose'];
  /** Set from when the connection closes until the client is notified. */
  #end: ConnectionClosed | undefined;
  /** The message that is passing the interceptors, in either direction, with its text. Most are not changed. */
  #passing: { message: CdpMessage; text: string } | undefined;
  #closing = false;
  #commands = 0;
  /** Why this side closed the connection without a call of `close()`. */
  #fault = '';

  constructor({ socket, send, cut, traffic }: OpenSocket, secret: string, interceptors: readonly InterceptorFactory[]) {
    this.#socket = socket;
    this.#cut = cut;
    this.traffic = traffic;
    this.#interceptors = new InterceptorList(interceptors, {
      toBrowser: (command) => send(this.#textOf(command) ?? JSON.stringify(command)),
      toClient: (message) => this.onmessage?.(message, this.#textOf(message)),
    });
    // Each message in a separate task, like in Playwright's own transport: Playwright handles a message in microtasks,
    // which must all have run before it gets the next one (one packet can contain several).
    socket.addEventListener('message', ({ data }) => setImmediate(this.#deliver, data));
    this.closed = new Promise((resolve) => {
      socket.addEventListener('close', ({ code, reason }) => {
        const byUs = this.#closing && this.#fault === '';
        this.#closing = true;
        this.#end = { code, reason: this.#fault || redactText(reason, [secret]), byUs };
        resolve(this.#end);
        this.#interceptors.end();
        // After the messages that are still being delivered to the client.
        setImmediate(this.#notifyEnd);
      });
    });
    socket.resume();
  }

  get commands(): number {
    return this.#commands;
  }

  get onclose(): CdpTransport['onclose'] {
    return this.#onclose;
  }

  set onclose(listener: CdpTransport['onclose']) {
    this.#onclose = listener;
    // The connection may have closed before the client added its listener, which would then wait forever.
    if (listener && this.#end) setImmediate(this.#notifyEnd);
  }

  send(message: CdpMessage, text?: string): void {
    this.#commands += 1;
    this.#pass(message, text, () => this.#interceptors.command(message));
  }

  ask(): Promise<unknown> {
    return this.#interceptors.call('Browser.getVersion');
  }

  close(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#socket.close();
    const timer = setTimeout(this.#cut, GOODBYE_MS);
    void this.closed.then(() => clearTimeout(timer));
  }

  readonly #deliver = (data: unknown): void => {
    const text = String(data);
    const message = parseMessage(text);
    // The reason does not quote the message: it may contain anything.
    if (!message) {
      this.#fail('a message was not JSON');
      return;
    }
    this.#pass(message, text, () => this.#interceptors.message(message));
  };

  /** A client may send a command while it gets a message. */
  #pass(message: CdpMessage, text: string | undefined, through: () => void): void {
    const outer = this.#passing;
    this.#passing = text === undefined ? undefined : { message, text };
    try {
      through();
    } finally {
      // Released now, not when the next message passes: it may have more than 100 MB.
      this.#passing = outer;
    }
  }

  /** The text of a message that no interceptor has changed. */
  #textOf(message: CdpMessage): string | undefined {
    return message === this.#passing?.message ? this.#passing.text : undefined;
  }

  #fail(fault: string): void {
    if (this.#closing) return;
    this.#fault = fault;
    this.close();
  }

  readonly #notifyEnd = (): void => {
    const listener = this.#onclose;
    if (!this.#end || !listener) return;
    const end = this.#end;
    this.#end = undefined;
    listener(describeClosed(end));
  };
}

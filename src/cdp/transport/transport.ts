import type { WebSocket } from 'ws';
import { redactText } from '../../redact.ts';
import type { InterceptorFactory } from './interceptor.ts';
import { InterceptorList } from './interceptor-list.ts';
import { describeClosed, type LinkClosed } from './link-closed.ts';
import { type CdpMessage, parseMessage } from './message.ts';
import { type LinkTraffic, type OpenSocket, openSocket } from './open-socket.ts';

/**
 * What a client connects through in place of an address (`chromium.connectOverCDP()` since Playwright 1.61,
 * `puppeteer.connect()`), and how its link ended. With an address in its place the client opens the socket itself: then
 * nothing can be intercepted, the address stands in the client's logs and errors, and why a link closed is not known.
 */
export interface CdpTransport {
  send(message: object): void;
  /** Closes the link; the browser itself goes on. */
  close(): void;
  /** @param text the message as it came, where nothing in it was changed on its way: a client need not write it again */
  onmessage?: ((message: object, text?: string) => void) | undefined;
  /** Called once, after the last message, with the reason in words. */
  onclose?: ((reason?: string) => void) | undefined;
  /** How many commands the client has sent. */
  readonly commands: number;
  /**
   * Asks the browser for a sign of life. Neither the client nor an interceptor hears of it: a CDP session of the client's,
   * which would do as well, looks like one of a test's own.
   * @throws PoolwrightError when the link is down, or there is no answer for 60 s
   */
  ask(): Promise<unknown>;
  /** What has passed over the link so far. */
  traffic(): LinkTraffic;
  /** Resolves as soon as the link is down, whoever closed it. Never rejects. */
  readonly closed: Promise<LinkClosed>;
}

/** Limits on opening a link, and whose it is. */
export interface LinkOptions {
  /** Bound on opening the link, in ms; 30 000 unless given. */
  timeout?: number;
  /** Gives up opening. Of no effect once the link is open. */
  signal?: AbortSignal;
  /** For errors: whose browser it is. */
  sessionId?: string;
}

const OPEN_TIMEOUT_MS = 30_000;
/** How long the other side may take to answer our goodbye, in ms: a dead one never does. */
const GOODBYE_MS = 3_000;

/**
 * Opens a link to a browser's `cdpUrl`.
 * @param interceptors in their order from the client to the browser
 * @throws LeaseError `CONNECT_FAILED`, which holds no more of the `cdpUrl` than its host
 * @throws PoolwrightError `ABORTED` when the signal fires, or the signal's own reason when that is a PoolwrightError
 */
export async function openLink(
  cdpUrl: string,
  { timeout = OPEN_TIMEOUT_MS, signal, sessionId }: LinkOptions,
  interceptors: readonly InterceptorFactory[],
): Promise<CdpTransport> {
  return new SocketTransport(await openSocket(cdpUrl, { timeout, signal, sessionId }), cdpUrl, interceptors);
}

/** Its fields are private to the language: whoever prints or serializes it sees neither address nor traffic. */
class SocketTransport implements CdpTransport {
  readonly closed: Promise<LinkClosed>;
  readonly traffic: () => LinkTraffic;
  onmessage: CdpTransport['onmessage'];

  readonly #socket: WebSocket;
  readonly #cut: () => void;
  readonly #interceptors: InterceptorList;
  #onclose: CdpTransport['onclose'];
  /** Set once the link is down, until the client has been told. */
  #end: LinkClosed | undefined;
  /** What is on its way to the client at this moment, as it came. */
  #arrived: { message: CdpMessage; text: string } | undefined;
  #closing = false;
  #commands = 0;
  /** Why this side closed, where it was not asked to. */
  #fault = '';

  constructor({ socket, cut, traffic }: OpenSocket, secret: string, interceptors: readonly InterceptorFactory[]) {
    this.#socket = socket;
    this.#cut = cut;
    this.traffic = traffic;
    this.#interceptors = new InterceptorList(interceptors, {
      toBrowser: (command) => socket.send(JSON.stringify(command)),
      toClient: (message) =>
        this.onmessage?.(message, message === this.#arrived?.message ? this.#arrived.text : undefined),
    });
    // Each message in a task of its own, as Playwright's own transport does: what Playwright does about a message it
    // does in microtasks, and those must all have run before it sees the next (several come in one packet).
    socket.addEventListener('message', ({ data }) => setImmediate(this.#deliver, data));
    this.closed = new Promise((resolve) => {
      socket.addEventListener('close', ({ code, reason }) => {
        const byUs = this.#closing && this.#fault === '';
        this.#closing = true;
        this.#end = { code, reason: this.#fault || redactText(reason, [secret]), byUs };
        resolve(this.#end);
        this.#interceptors.end();
        // In line behind the messages that are still on their way to the client.
        setImmediate(this.#tellEnd);
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
    // The link may have gone down before the client listened: it would wait.
    if (listener && this.#end) setImmediate(this.#tellEnd);
  }

  send(message: CdpMessage): void {
    this.#commands += 1;
    this.#interceptors.command(message);
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
    // No word of what it was: it may hold anything.
    if (!message) {
      this.#fail('a message was not JSON');
      return;
    }
    this.#arrived = { message, text };
    this.#interceptors.message(message);
    // Not until the next one comes: it may have more than 100 MB.
    this.#arrived = undefined;
  };

  #fail(fault: string): void {
    if (this.#closing) return;
    this.#fault = fault;
    this.close();
  }

  readonly #tellEnd = (): void => {
    const listener = this.#onclose;
    if (!this.#end || !listener) return;
    const end = this.#end;
    this.#end = undefined;
    listener(describeClosed(end));
  };
}

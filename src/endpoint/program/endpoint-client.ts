import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { WebSocket } from 'ws';
import { parseMessage } from '../../cdp/message.ts';
import { PoolwrightError } from '../../errors.ts';
import { WHOLE_MESSAGES } from '../sockets/web-socket.ts';

/** The endpoint runs on this machine. */
const HANDSHAKE_TIMEOUT_MS = 30_000;

/** The endpoint of the command that has started this program, for one lease. */
export class EndpointClient {
  /** ID of the lease. */
  readonly id = randomUUID();
  readonly #url: string;

  /** @param url the value of `POOLWRIGHT_ENDPOINT` */
  constructor(url: string) {
    this.#url = url;
  }

  /**
   * Connects to the browser, a page, or only to the lease. Paused: resume it after adding listeners.
   * @throws PoolwrightError `ABORTED`
   */
  async connect(path: string, userAgent: string, query: Record<string, string> = {}): Promise<WebSocket> {
    const socket = new WebSocket(`${this.#url}/${path}?${new URLSearchParams(query)}`, {
      headers: { 'user-agent': userAgent },
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      ...WHOLE_MESSAGES,
    });
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', () => reject(unreachable()));
    });
    socket.on('error', () => undefined);
    socket.pause();
    return socket;
  }

  /** Asks for `/json/…` of this lease. @throws PoolwrightError `ABORTED` */
  async ask(path: string, query: Record<string, string> = {}): Promise<{ status: number; body: string }> {
    const asked = `${this.#url.replace(/^ws/, 'http')}/${path}?${new URLSearchParams({ ...query, lease: this.id })}`;
    try {
      // Not `fetch()`, which waits five minutes at most: a lease may take longer.
      const [response] = (await once(get(asked), 'response')) as [IncomingMessage];
      return { status: response.statusCode ?? 0, body: await text(response) };
    } catch {
      throw unreachable();
    }
  }

  /** Makes the addresses in a response those of another port, on which there is one browser. */
  localized(body: string, host: string): string {
    const { host: own, pathname } = new URL(this.#url);
    return body
      .replaceAll(`ws://${own}${pathname}/devtools/page/${this.id}.`, `ws://${host}/devtools/page/`)
      .replaceAll(`ws://${own}${pathname}/`, `ws://${host}/`);
  }
}

function unreachable(): PoolwrightError {
  return new PoolwrightError(
    'ABORTED',
    'There is no poolwright at the address in POOLWRIGHT_ENDPOINT: the command that has set it is over. Without that variable, this program starts its own.',
  );
}

/** The response to a command that closes the browser; null for all others. This program ends then, like a browser. */
export function closeReply(text: string): string | null {
  // Most messages need not be parsed.
  if (!text.includes('Browser.close')) return null;
  const { id, method, sessionId } = parseMessage(text) ?? {};
  if (method !== 'Browser.close') return null;
  return JSON.stringify({ id, result: {}, ...(sessionId !== undefined && { sessionId }) });
}

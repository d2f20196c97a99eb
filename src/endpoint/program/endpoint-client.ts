import { constants } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';
import { PoolwrightError } from '../../errors.ts';

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
      perMessageDeflate: false,
      maxPayload: constants.MAX_STRING_LENGTH,
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
    const response = await fetch(asked).catch(() => {
      throw unreachable();
    });
    return { status: response.status, body: await response.text() };
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

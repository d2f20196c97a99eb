import { randomUUID } from 'node:crypto';
import { errorMessage } from '../common/error-message.ts';
import { ServiceError } from '../errors.ts';
import type { FixedBrowser } from '../options/resolve-service.ts';
import { printable } from '../printable.ts';
import { redactText } from '../redact.ts';
import type { BrowserProvider, ProvidedBrowser } from './provider.ts';

/** Why a worker waits. */
export const ALL_IN_USE = 'all browsers of `browsers` are in use';
/** Time limit for a browser's `/json/version`, in ms. */
const VERSION_MS = 5_000;

/** One address, with what is leased there. */
interface Place extends FixedBrowser {
  /** How messages name it: without path and credentials. */
  readonly name: string;
  readonly leased: Set<string>;
  /** It did not answer the last time. */
  isLeftOut: boolean;
}

/** Browsers that run already. They are neither started nor ended: a lease only keeps other workers away. */
export class FixedBrowsers implements BrowserProvider {
  readonly #places: readonly Place[];
  readonly #onNote: (text: string) => void;

  /** @param onNote takes lines for the user */
  constructor(browsers: readonly FixedBrowser[], onNote: (text: string) => void) {
    this.#places = browsers.map((browser) => ({
      ...browser,
      name: new URL(browser.url).host,
      leased: new Set(),
      isLeftOut: false,
    }));
    this.#onNote = onNote;
  }

  async check(signal: AbortSignal): Promise<void> {
    const answers = await Promise.all(this.#places.map((place) => this.#addressOf(place, signal)));
    if (answers.every((address) => address === null)) throw this.#noneAnswers();
  }

  async acquire(signal: AbortSignal): Promise<ProvidedBrowser> {
    let isFull = false;
    // Those that did not answer come last: each of them may take the whole time limit again.
    for (const place of [...this.#places].sort((a, b) => Number(a.isLeftOut) - Number(b.isLeftOut))) {
      if (place.leased.size >= place.max) {
        isFull = true;
        continue;
      }
      const id = `${place.name.replace(/[^\w.-]/g, '-')}-${randomUUID().slice(0, 8)}`;
      // Before the wait: nobody else takes it meanwhile.
      place.leased.add(id);
      let cdpUrl: string | null = null;
      try {
        cdpUrl = await this.#addressOf(place, signal);
      } finally {
        if (cdpUrl === null) place.leased.delete(id);
      }
      if (cdpUrl !== null) return { id, cdpUrl };
    }
    if (!isFull) throw this.#noneAnswers();
    throw failure('SERVICE_LIMIT_REACHED', 403, `${ALL_IN_USE}.`);
  }

  async release(id: string): Promise<void> {
    for (const { leased } of this.#places) leased.delete(id);
  }

  /** The address of its CDP; null if it does not answer. Whether a `ws://` address answers shows when it is used. */
  async #addressOf(place: Place, signal: AbortSignal): Promise<string | null> {
    if (/^ws/i.test(place.url)) return place.url;
    try {
      const address = await debuggerAddress(
        new URL(place.url),
        AbortSignal.any([signal, AbortSignal.timeout(VERSION_MS)]),
      );
      if (place.isLeftOut) this.#onNote(`the browser at ${place.name} answers again`);
      place.isLeftOut = false;
      return address;
    } catch (error) {
      signal.throwIfAborted();
      if (!place.isLeftOut) this.#onNote(`the browser at ${place.name} is left out: ${reasonOf(error, place)}`);
      place.isLeftOut = true;
      return null;
    }
  }

  #noneAnswers(): ServiceError {
    const names = this.#places.map(({ name }) => name).join(', ');
    const start =
      'Start one, for example `chromium --headless --remote-debugging-port=9222`, or correct `browsers` (POOLWRIGHT_CDP_URL).';
    return failure('SERVICE_UNAVAILABLE', 503, `No browser answers at ${names}. ${start}`);
  }
}

/** Asks a browser for the address of its CDP, as Playwright and Puppeteer do. */
async function debuggerAddress(url: URL, signal: AbortSignal): Promise<string> {
  const { username, password } = url;
  url.username = '';
  url.password = '';
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/json/version`;
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  const headers: Record<string, string> = username ? { authorization: `Basic ${credentials}` } : {};
  const response = await fetch(url, { signal, headers });
  if (!response.ok) throw new Error(`/json/version responds with ${response.status}`);
  const version: unknown = await response.json().catch(() => null);
  const address = Object(version).webSocketDebuggerUrl;
  if (typeof address === 'string' && /^wss?:\/\//.test(address)) return address;
  throw new Error('it has no debugging port: its /json/version names no webSocketDebuggerUrl');
}

function reasonOf(error: unknown, { url }: Place): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return printable(redactText(errorMessage(cause), [url]));
}

function failure(code: ServiceError['code'], status: number, message: string): ServiceError {
  return new ServiceError(code, message, { status, request: 'a browser of `browsers`', retryable: status === 503 });
}

import { randomUUID } from 'node:crypto';
import { errorMessage } from '../common/error-message.ts';
import type { FixedBrowser } from '../options/resolve-service.ts';
import { printable } from '../printable.ts';
import { redactText } from '../redact.ts';
import { browserIn, cdpAddress, isWebSocket } from './cdp-address.ts';
import { type ProvidedBrowser, ProviderError, type ProviderRequest, type ReleaseReason } from './provider.ts';
import type { CheckedProvider } from './provider-calls.ts';

/** Why a worker waits. */
export const ALL_IN_USE = 'all browsers of `browsers` are in use';
/** The end of a lease whose browser was in use. */
const WORKED: ReadonlySet<ReleaseReason> = new Set(['finished', 'idle', 'rolled-over', 'expired'] as const);

/** One address, with what is leased there. */
interface Place extends FixedBrowser {
  /** How messages name it: without path and credentials. */
  readonly name: string;
  readonly leased: Set<string>;
  /** It did not answer the last time. */
  isLeftOut: boolean;
}

/** Browsers that run already. They are neither started nor ended: a lease only keeps other workers away. */
export class FixedBrowsers implements CheckedProvider {
  readonly runsAlready = true;
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
    const browsers = answers.map((address) => address && browserIn(address));
    const again = browsers.findIndex((browser, at) => browser !== null && browsers.indexOf(browser) < at);
    if (again < 0) return;
    const names = [browsers.indexOf(browsers[again] ?? null), again].map((at) => this.#places[at]?.name);
    const advice = 'Name it once in `browsers` (POOLWRIGHT_CDP_URL), with `max` for several workers.';
    throw new ProviderError('INVALID', `${names.join(' and ')} are the same browser. ${advice}`);
  }

  async acquire({ signal }: Pick<ProviderRequest, 'signal'>): Promise<ProvidedBrowser> {
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
    throw new ProviderError('LIMIT_REACHED', `${ALL_IN_USE}.`);
  }

  async release(id: string, reason: ReleaseReason): Promise<void> {
    const place = this.#places.find(({ leased }) => leased.delete(id));
    // Whether a debugging port answers shows before its browser is leased.
    if (!place || !isWebSocket(place.url)) return;
    if (reason === 'connect-failed') this.#leaveOut(place, 'it accepts no CDP connection');
    else if (WORKED.has(reason)) this.#answered(place);
  }

  /** The address of its CDP; null if it does not answer. Whether a `ws://` address answers shows when it is used. */
  async #addressOf(place: Place, signal: AbortSignal): Promise<string | null> {
    try {
      const address = await cdpAddress(place.url, { signal });
      if (!isWebSocket(place.url)) this.#answered(place);
      return address;
    } catch (error) {
      signal.throwIfAborted();
      this.#leaveOut(place, reasonOf(error, place));
      return null;
    }
  }

  #answered(place: Place): void {
    if (place.isLeftOut) this.#onNote(`the browser at ${place.name} answers again`);
    place.isLeftOut = false;
  }

  #leaveOut(place: Place, reason: string): void {
    if (!place.isLeftOut) this.#onNote(`the browser at ${place.name} is left out: ${reason}`);
    place.isLeftOut = true;
  }

  #noneAnswers(): ProviderError {
    const names = this.#places.map(({ name }) => name).join(', ');
    const start =
      'Start one, for example `chromium --headless --remote-debugging-port=9222`, or correct `browsers` (POOLWRIGHT_CDP_URL).';
    return new ProviderError('CAPACITY', `No browser answers at ${names}. ${start}`);
  }
}

function reasonOf(error: unknown, { url }: Place): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return printable(redactText(errorMessage(cause), [url]));
}

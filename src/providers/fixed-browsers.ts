import { randomUUID } from 'node:crypto';
import pTimeout from 'p-timeout';
import { monotonicNow } from '../common/clock.ts';
import { errorMessage } from '../common/error-message.ts';
import type { FixedBrowser } from '../options/resolve-service.ts';
import { printable } from '../printable.ts';
import { redactText } from '../redact.ts';
import { browserIn, cdpAddress, isWebSocket } from './cdp-address.ts';
import { type ProvidedBrowser, ProviderError, type ProviderRequest, type ReleaseReason } from './provider.ts';
import type { CheckedProvider } from './provider-calls.ts';

/** Why a worker waits. */
export const ALL_IN_USE = 'all browsers of `browsers` that answer are in use';
/** The end of a lease whose browser was in use. */
const WORKED: ReadonlySet<ReleaseReason> = new Set(['finished', 'idle', 'rolled-over', 'expired'] as const);

/**
 * An attempt that has failed counts for this many times as long as it took: an address that refuses at once is asked
 * again at once, and a silent one costs a run its time limit now and then, not once per test.
 */
const COUNTS_FOR = 6;
/** An attempt that has taken this long has not been refused, in ms. */
const SILENT_MS = 1_000;

/** One address, with what is leased there. */
interface Place extends FixedBrowser {
  /** How messages name it: without path and credentials. */
  readonly name: string;
  /** The leases, and whether each began while it was left out: it has responded to us then. */
  readonly leased: Map<string, boolean>;
  /** It did not answer the last time. */
  isLeftOut: boolean;
  /** The attempt under way to reach a `ws://` address that was left out; those who want it share it. */
  asking: Promise<boolean> | null;
  /** The last attempt has waited for a response. */
  isSilent: boolean;
  /** Until when the last failed attempt counts, in ms of {@link Reach.now}. */
  silentUntil: number;
}

/** How browsers are reached; for tests. */
export interface Reach {
  /** The address of the CDP of one that responds. @throws its failure */
  address(url: string, options: { signal: AbortSignal }): Promise<string>;
  /** Whether a browser responds at a `ws://` address, within a time limit. */
  responds(url: string): Promise<boolean>;
  /** In ms. Not the time of day: where that is corrected, an address could count as silent for hours. */
  now(): number;
}

const REACH: Reach = {
  address: cdpAddress,
  responds: async (url) => await (await import('./responds.ts')).responds(url),
  now: monotonicNow,
};

/** Browsers that run already. They are neither started nor ended: a lease only keeps other workers away. */
export class FixedBrowsers implements CheckedProvider {
  readonly runsAlready = true;
  readonly #places: readonly Place[];
  readonly #onNote: (text: string) => void;
  readonly #reach: Reach;

  /** @param onNote takes lines for the user */
  constructor(browsers: readonly FixedBrowser[], onNote: (text: string) => void, reach = REACH) {
    this.#places = browsers.map((browser) => ({
      ...browser,
      name: new URL(browser.url).host,
      leased: new Map(),
      isLeftOut: false,
      asking: null,
      isSilent: false,
      silentUntil: 0,
    }));
    this.#onNote = onNote;
    this.#reach = reach;
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
    try {
      return await this.#lease(signal);
    } catch (error) {
      // One that is given up leaves nothing, as after a refusal: no browser was started that somebody has to look for.
      throw signal.aborted ? new ProviderError('CAPACITY', errorMessage(signal.reason)) : error;
    }
  }

  async #lease(signal: AbortSignal): Promise<ProvidedBrowser> {
    let isFull = false;
    // Those that did not answer come last: each of them may take its time limit again.
    for (const place of [...this.#places].sort((a, b) => Number(a.isLeftOut) - Number(b.isLeftOut))) {
      const cdpUrl = place.leased.size < place.max ? await this.#addressOf(place, signal) : null;
      // Others may have taken it during the wait.
      if (place.leased.size >= place.max) isFull = true;
      if (cdpUrl === null || place.leased.size >= place.max) continue;
      const id = `${place.name.replace(/[^\w.-]/g, '-')}-${randomUUID().slice(0, 8)}`;
      place.leased.set(id, place.isLeftOut);
      return { id, cdpUrl };
    }
    if (!isFull) throw this.#noneAnswers();
    throw new ProviderError('LIMIT_REACHED', `${ALL_IN_USE}.`);
  }

  async silent(signal: AbortSignal = new AbortController().signal): Promise<string[]> {
    const places = this.#places.filter(({ isLeftOut, leased, max }) => isLeftOut && leased.size < max);
    const addresses = await Promise.all(places.map((place) => this.#addressOf(place, signal)));
    return places.flatMap(({ name }, n) => (addresses[n] === null ? name : []));
  }

  async release(id: string, reason: ReleaseReason): Promise<void> {
    const place = this.#places.find(({ leased }) => leased.has(id));
    const hasResponded = place?.leased.get(id) === true;
    place?.leased.delete(id);
    // Whether a debugging port answers shows before its browser is leased.
    if (!place || !isWebSocket(place.url)) return;
    if (reason === 'connect-failed') this.#leaveOut(place, 'it accepts no CDP connection');
    else if (hasResponded && WORKED.has(reason)) this.#answered(place);
  }

  /** The address of its CDP; null if it does not answer. Whether a `ws://` address answers shows when it is used. */
  async #addressOf(place: Place, signal: AbortSignal): Promise<string | null> {
    if (isWebSocket(place.url)) return place.isLeftOut ? await this.#askedAgain(place, signal) : place.url;
    try {
      const address = await this.#reach.address(place.url, { signal });
      this.#answered(place);
      return address;
    } catch (error) {
      signal.throwIfAborted();
      this.#leaveOut(place, reasonOf(error, place));
      return null;
    }
  }

  /** A worker would wait for a silent browser for much longer, and each one anew. */
  async #askedAgain(place: Place, signal: AbortSignal): Promise<string | null> {
    const { now } = this.#reach;
    if (now() < place.silentUntil) return null;
    place.asking ??= this.#ask(place, now()).finally(() => {
      place.asking = null;
    });
    const hasResponded = await pTimeout(place.asking, { milliseconds: Number.POSITIVE_INFINITY, signal });
    return hasResponded ? place.url : null;
  }

  async #ask(place: Place, since: number): Promise<boolean> {
    const { responds, now } = this.#reach;
    const hasResponded = await responds(place.url);
    if (hasResponded) {
      place.isSilent = false;
      return true;
    }
    const took = now() - since;
    place.isSilent = took >= SILENT_MS;
    place.silentUntil = now() + COUNTS_FOR * took;
    this.#leaveOut(place, 'it does not respond');
    return false;
  }

  #answered(place: Place): void {
    if (place.isLeftOut) this.#onNote(`the browser at ${place.name} answers again`);
    place.isLeftOut = false;
  }

  #leaveOut(place: Place, reason: string): void {
    if (!place.isLeftOut) this.#onNote(`the browser at ${place.name} is left out: ${reason}`);
    place.isLeftOut = true;
    // The leases of before say nothing of what follows.
    for (const id of place.leased.keys()) place.leased.set(id, false);
  }

  #noneAnswers(): ProviderError {
    const names = this.#places.map(({ name }) => name).join(', ');
    const start =
      'Start one, for example `chromium --headless --remote-debugging-port=9222`, or correct `browsers` (POOLWRIGHT_CDP_URL).';
    // An address that refuses at once may be that of a browser that starts. A silent one takes too long to ask again.
    const code = this.#places.every(({ isSilent }) => isSilent) ? 'INVALID' : 'CAPACITY';
    return new ProviderError(code, `No browser answers at ${names}. ${start}`);
  }
}

function reasonOf(error: unknown, { url }: Place): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return printable(redactText(errorMessage(cause), [url]));
}

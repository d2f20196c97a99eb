import * as v from 'valibot';
import { errorMessage } from '../common/error-message.ts';
import { within } from '../common/pause.ts';
import { parsedUrl } from '../common/url/parsed-url.ts';
import { LeaseError, PoolwrightError, ServiceError } from '../errors.ts';
import { printable } from '../printable.ts';
import { redactText } from '../redact.ts';
import { isAmbiguous, nextDelay } from '../service/index.ts';
import { cdpAddress } from './cdp-address.ts';
import { type AcquireAccount, unleased } from './port.ts';
import type { Provider, ProviderErrorCode, ProviderRequest, ReleaseReason } from './provider.ts';

/** Time limit of each call, in ms. Browsers take as long to start as the service's. */
const TIME_LIMITS = { acquire: 200_000, release: 30_000, list: 15_000, usage: 10_000, limit: 10_000, check: 30_000 };
/** How long an `acquire` that is given up may take to end, in ms. Its browser is ended whenever it comes. */
const GIVE_UP_MS = 10_000;
/** How long after a request its browser may be missing in `list`, in ms: until its `acquire` has ended. */
export const UNLISTED_MS = TIME_LIMITS.acquire + 10_000;
/** A browser is used for a day at most: its label, which is not renewed, names a run for as long. */
export const MOST_LIFETIME_MS = 24 * 3_600_000;

/** Failures as the service has them, so that one policy decides on both. */
const FAILURES: Record<ProviderErrorCode, [code: ServiceError['code'], status: number]> = {
  LIMIT_REACHED: ['SERVICE_LIMIT_REACHED', 403],
  CAPACITY: ['SERVICE_UNAVAILABLE', 503],
  UNAUTHORIZED: ['SERVICE_UNAUTHORIZED', 401],
  OUT_OF_CREDIT: ['SERVICE_OUT_OF_CREDIT', 402],
  INVALID: ['SERVICE_BAD_REQUEST', 400],
  UNAVAILABLE: ['SERVICE_FAILED', 500],
};

const providedBrowser = v.object({
  id: v.pipe(v.string(), v.minLength(1), v.maxLength(256)),
  cdpUrl: v.pipe(
    v.string(),
    v.check(
      (url) => /^(http|ws)s?:\/\//i.test(url) && parsedUrl(url) !== null,
      'not a ws://, wss:// or http:// address',
    ),
  ),
  headers: v.optional(v.record(v.string(), v.string())),
  expiresAt: v.optional(
    v.pipe(
      v.union([v.date(), v.string()]),
      v.transform((date) => new Date(date)),
      v.date(),
    ),
  ),
});
/** Enough of a browser to end it. */
const withId = v.object({ id: providedBrowser.entries.id });
const listedBrowsers = v.array(v.object({ id: v.string(), label: v.nullish(v.string(), null) }));
const figures = {
  usage: v.nullable(v.pipe(v.number(), v.finite(), v.minValue(0))),
  limit: v.nullable(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
};

/** A browser that can be connected to: `cdpUrl` is a `ws://` address. */
export type LeasableBrowser = Omit<v.InferOutput<typeof providedBrowser>, 'expiresAt'> & { expiresAt: Date };

/** A provider that can check before a run that there is a browser. */
export interface CheckedProvider extends Provider {
  /** Whether others may use its browsers at the same time. Default: no. */
  readonly runsAlready?: boolean | undefined;
  /** @throws ProviderError */
  check?(signal: AbortSignal): Promise<void>;
  /** Names of browsers that do not answer and could be leased if they did. Asks them again. */
  silent?(signal: AbortSignal | undefined): Promise<string[]>;
  /** This browser is in a ledger on disk: if this process dies, others release it. */
  kept?(id: string): void;
  /** Ends what it runs on. */
  close?(): Promise<void>;
}

type Call = keyof typeof TIME_LIMITS;

/**
 * Calls a provider. Each call has a time limit, what it returns is checked, and every failure is a ServiceError. Their
 * messages have none of the secrets of its browsers.
 */
export class ProviderCalls {
  /** By browser. */
  readonly #secrets = new Map<string, string[]>();

  readonly #provider: CheckedProvider;
  readonly #name: string | null;
  readonly #now: () => number;

  /**
   * @param name of the user's provider, for messages; null: one of ours
   * @param now in ms since the epoch
   */
  constructor(provider: CheckedProvider, name: string | null, now: () => number) {
    this.#provider = provider;
    this.#name = name;
    this.#now = now;
  }

  has(call: Call): boolean {
    return this.#provider[call] !== undefined;
  }

  /** @throws ServiceError, LeaseError `CONNECT_FAILED`; the signal's reason */
  async acquire(
    request: Omit<ProviderRequest, 'signal'>,
    signal: AbortSignal,
    account: AcquireAccount,
  ): Promise<LeasableBrowser> {
    const given = await this.#acquired(request, signal, account);
    const named = v.safeParse(withId, given);
    if (named.success) account.known(unleased(named.output.id));
    else account.doubt();
    const browser = this.#checked('acquire', providedBrowser, given);
    const { id, cdpUrl, headers = {}, expiresAt } = browser;
    this.#secrets.set(id, [cdpUrl, ...Object.values(headers)]);
    try {
      const latest = this.#now() + MOST_LIFETIME_MS;
      return {
        ...browser,
        cdpUrl: await cdpAddress(cdpUrl, { headers, signal }),
        expiresAt: new Date(Math.min(expiresAt?.getTime() ?? latest, latest)),
      };
    } catch (error) {
      signal.throwIfAborted();
      const why = `Browser ${id} was acquired, but is not reachable: ${this.#text(reasonOf(error))}.`;
      throw new LeaseError('CONNECT_FAILED', this.#named(why), { sessionId: id });
    }
  }

  async release(id: string, reason: ReleaseReason, signal?: AbortSignal): Promise<void> {
    await this.#call('release', signal, () => this.#provider.release(id, reason));
    this.#secrets.delete(id);
  }

  async list(signal?: AbortSignal): Promise<v.InferOutput<typeof listedBrowsers>> {
    return this.#checked('list', listedBrowsers, await this.#call('list', signal, () => this.#provider.list?.()));
  }

  async figure(call: 'usage' | 'limit', id = ''): Promise<number | null> {
    const provider = this.#provider;
    if (!provider[call]) return null;
    const value = await this.#call(call, undefined, () =>
      call === 'usage' ? provider.usage?.(id) : provider.limit?.(),
    );
    return this.#checked(call, figures[call], value ?? null);
  }

  /** Checks before a run that the provider works, as far as it can. */
  async check(signal?: AbortSignal): Promise<void> {
    if (this.has('check')) await this.#call('check', signal, (signal) => this.#provider.check?.(signal));
    else if (this.has('list')) await this.list(signal);
  }

  async #call(what: Call, given: AbortSignal | undefined, work: (signal: AbortSignal) => unknown): Promise<unknown> {
    const late = AbortSignal.timeout(TIME_LIMITS[what]);
    const signal = given ? AbortSignal.any([given, late]) : late;
    try {
      signal.throwIfAborted();
      return await Promise.race([work(signal), rejection(signal)]);
    } catch (error) {
      if (given?.aborted) throw given.reason instanceof PoolwrightError ? given.reason : aborted(given.reason);
      if (!late.aborted) throw this.#failure(what, error);
      const text = `\`${what}\` took longer than ${TIME_LIMITS[what] / 1000} s.`;
      throw this.#error('TIMEOUT', 0, what, text);
    }
  }

  /** What `acquire` returns. One that is given up gets a moment to end: its outcome is worth more than a doubt. */
  async #acquired(
    request: Omit<ProviderRequest, 'signal'>,
    signal: AbortSignal,
    account: AcquireAccount,
  ): Promise<unknown> {
    let coming: Promise<unknown> | null = null;
    let hasEnded = false;
    try {
      return await this.#call('acquire', signal, async (signal) => {
        coming = Promise.resolve(this.#provider.acquire({ ...request, signal })).finally(() => {
          hasEnded = true;
        });
        return await coming;
      });
    } catch (error) {
      if (coming === null) throw error;
      const outcome = this.#outcome(coming, account);
      if (hasEnded && (await outcome) === 'unknown') account.doubt();
      if (!hasEnded) {
        account.doubt();
        const certain = outcome.then((left) => left !== 'unknown' && account.certain());
        await within(certain, GIVE_UP_MS, null);
      }
      throw error;
    }
  }

  /** What a call that failed, or was given up, has left. Never rejects. */
  async #outcome(coming: Promise<unknown>, { unused }: AcquireAccount): Promise<'a browser' | 'none' | 'unknown'> {
    try {
      const named = v.safeParse(withId, await coming);
      if (!named.success) return 'unknown';
      unused(unleased(named.output.id));
      return 'a browser';
    } catch (error) {
      return isAmbiguous(this.#failure('acquire', error)) ? 'unknown' : 'none';
    }
  }

  #checked<S extends v.GenericSchema>(what: Call, schema: S, value: unknown): v.InferOutput<S> {
    const parsed = v.safeParse(schema, value);
    if (parsed.success) return parsed.output;
    const [issue] = parsed.issues;
    const where = v.getDotPath(issue);
    const problem = `\`${what}\` must return ${SHAPES[what]}${where ? `: \`${where}\` is wrong` : ''}.`;
    throw this.#error('SERVICE_BAD_RESPONSE', 200, what, problem);
  }

  #failure(what: Call, error: unknown): ServiceError {
    const { code: named, retryAfterMs } = Object(error);
    // Not by its class: the provider's file may have loaded this package as another kind of module. A release is
    // repeated, whatever its failure is called.
    const isNamed = what !== 'release' && Object.hasOwn(FAILURES, named);
    const code: ProviderErrorCode = isNamed ? named : 'UNAVAILABLE';
    const delay = typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? retryAfterMs : undefined;
    return this.#error(...FAILURES[code], what, this.#text(errorMessage(error)), delay);
  }

  #error(code: ServiceError['code'], status: number, call: Call, text: string, retryAfterMs?: number): ServiceError {
    const retryable = nextDelay({ code, status, cause: undefined }, 1) !== null;
    const request = this.#named(call);
    return new ServiceError(code, this.#named(text), { status, request, retryable, retryAfterMs });
  }

  #named(text: string): string {
    return this.#name === null ? text : `${this.#name}: ${text}`;
  }

  #text(text: string): string {
    return printable(redactText(text, [...this.#secrets.values()].flat()));
  }
}

/** What calls must return. */
const SHAPES: Record<Call, string> = {
  acquire: '{ id, cdpUrl, headers?, expiresAt? }',
  list: 'a list of { id, label }',
  usage: 'a number of bytes or null',
  limit: 'a whole number of browsers, at least 1, or null',
  release: 'nothing',
  check: 'nothing',
};

/** What `fetch` throws has its reason as its cause. */
function reasonOf(error: unknown): string {
  return errorMessage(error instanceof Error && error.cause instanceof Error ? error.cause : error);
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function aborted(reason: unknown): PoolwrightError {
  return new PoolwrightError('ABORTED', `The call was given up: ${errorMessage(reason)}`);
}

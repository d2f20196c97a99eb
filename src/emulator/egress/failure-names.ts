import { monotonicNow } from '../../common/clock.ts';

/** Chromium's name for every failure behind a SOCKS proxy. */
const OF_PROXY = 'net::ERR_SOCKS_CONNECTION_FAILED';
/** Where Chromium names a failure: a navigation's response, and the events of its request. */
const NAMING = /^\{(?:"id":\d+,"result":\{"frameId"|"method":"(?:Network\.loadingFailed|Log\.entryAdded)")/;
/** How long Chromium may take to report a failure, in ms: usually a few. */
const REPORTED_MS = 10_000;
/** Messages that name a failure are smaller, in bytes, unless an address is longer. */
const LARGEST = 16_384;

/** Why a host was not reached, in the words of a browser without a proxy. */
export type NetError = `net::ERR_${string}`;

const NET_ERRORS: Record<string, NetError> = {
  ECONNREFUSED: 'net::ERR_CONNECTION_REFUSED',
  ENETUNREACH: 'net::ERR_ADDRESS_UNREACHABLE',
  EHOSTUNREACH: 'net::ERR_ADDRESS_UNREACHABLE',
  ETIMEDOUT: 'net::ERR_CONNECTION_TIMED_OUT',
};

/** Chromium's name for a system error; undefined if it has none. */
export function netErrorOf(code: string | undefined): NetError | undefined {
  return NET_ERRORS[code ?? ''];
}

/**
 * Gives Chromium's reports of failures the names that a browser without a proxy has for them. Chromium does not say
 * which connection it reports, so a name is replaced only if all connections that have just failed had one reason.
 */
export class FailureNames {
  /** When a connection last failed, by reason. */
  readonly #lastAt = new Map<NetError | undefined, number>();

  /** @param reason undefined if a browser without a proxy has no name for it */
  note(reason: NetError | undefined): void {
    this.#lastAt.set(reason, monotonicNow());
  }

  /** Returns a message of Chromium's with the reason of the failure that it reports, if it is known. */
  named(message: Buffer): Buffer {
    if (this.#lastAt.size === 0 || message.length > LARGEST) return message;
    if (!NAMING.test(message.toString('latin1', 0, 64)) || !message.includes(OF_PROXY)) return message;
    const since = monotonicNow() - REPORTED_MS;
    const reasons = [...this.#lastAt].flatMap(([reason, at]) => (at > since ? [reason] : []));
    const [reason] = reasons;
    if (reasons.length !== 1 || reason === undefined) return message;
    return Buffer.from(message.toString('utf8').replaceAll(OF_PROXY, reason));
  }
}

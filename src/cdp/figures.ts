import { monotonicNow } from '../common/clock.ts';
import type { CdpMessage } from './message.ts';
import type { Interceptor, InterceptorTransport } from './transport/interceptor.ts';
import { isTargetGone } from './transport/owed-responses.ts';

/** The shortest round trip, in ms, from which commands are sent early; closer browsers do not need it. */
export const FAR_MS = 5;

/**
 * The latency of one browser connection, and the time saved on it. Both are measured: the latency is the shortest
 * response time so far; the saved time of a response is how much later it would have arrived if the command had been
 * sent when the client sent it.
 */
export class Savings {
  readonly #farMs: number;
  readonly #now: () => number;
  #shortest = Number.POSITIVE_INFINITY;
  #saved = 0;
  /** The longest saving among concurrent commands: commands sent together wait together. */
  #inFlight = 0;

  /** @param farMs shortest round trip from which commands are sent early. Default: 5 ms */
  constructor(farMs = FAR_MS, now = monotonicNow) {
    this.#farMs = farMs;
    this.#now = now;
  }

  /** Round trip to the browser, in ms; null before the first response. */
  get roundTripMs(): number | null {
    return Number.isFinite(this.#shortest) ? this.#shortest : null;
  }

  /** Time saved so far, in ms. */
  get savedMs(): number {
    return this.#saved;
  }

  /** Whether the browser is known to be far enough away for savings. */
  get isFar(): boolean {
    return Number.isFinite(this.#shortest) && this.#shortest >= this.#farMs;
  }

  /** Whether the browser is known to be too near for savings. It stays that near: its shortest response time counts. */
  get isNear(): boolean {
    return this.#shortest < this.#farMs;
  }

  now(): number {
    return this.#now();
  }

  /** The browser itself has responded after `ms`. */
  measured(ms: number): void {
    this.#shortest = Math.min(this.#shortest, ms);
  }

  /** The client gets a message: commands that it sends from now on had to wait for it. */
  delivered(): void {
    this.#inFlight = 0;
  }

  /** The client sends a command that was sent early at `sentAt`; omitted for a response without the browser. */
  used(sentAt?: number): void {
    const whole = this.roundTripMs ?? 0;
    const saved = sentAt === undefined ? whole : Math.min(whole, this.#now() - sentAt);
    this.#saved += Math.max(0, saved - this.#inFlight);
    this.#inFlight = Math.max(this.#inFlight, saved);
  }
}

/** The most commands timed at once. */
const MAX_COMMANDS = 1_000;

/** Measures the latency of the browser: how long it takes to respond. */
export class Distance implements Interceptor {
  readonly #savings: Savings;
  readonly #sentAt = new Map<number, number>();

  constructor(transport: InterceptorTransport, savings: Savings) {
    this.#savings = savings;
    transport.view.onDelivered(() => savings.delivered());
  }

  onCommand(command: CdpMessage): CdpMessage {
    if (command.id !== undefined && this.#sentAt.size < MAX_COMMANDS) this.#sentAt.set(command.id, this.#savings.now());
    return command;
  }

  onMessage(message: CdpMessage): CdpMessage {
    if (message.id === undefined) return message;
    const sentAt = this.#sentAt.get(message.id);
    if (sentAt === undefined) return message;
    this.#sentAt.delete(message.id);
    // Responses for a target that is gone come from this process, without delay.
    if (!isTargetGone(message)) this.#savings.measured(this.#savings.now() - sentAt);
    return message;
  }
}

/** Counts the bytes that a browser transfers, as far as its events report them: see {@link Metering}. */
export class Meter {
  #total = 0;

  /** Bytes so far. */
  total(): number {
    return this.#total;
  }

  /** @param bytes negative to correct an earlier count that was too high */
  count(bytes: number): void {
    this.#total += bytes;
  }
}

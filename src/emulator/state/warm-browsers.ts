import type { LimitFunction } from 'p-limit';
import type { Clock, Timer } from '../../common/clock.ts';
import type { BrowserSession } from './browser-session.ts';

export interface WarmBrowsersContext {
  /** A new session by the pool's present template, not started yet. */
  create: () => BrowserSession;
  /** Called when one more browser is ready to be taken. */
  onReady: () => void;
  /** Shared by all pools, so that warming does not smother the browsers at work. */
  slots: LimitFunction;
  /** How long the replacement of a browser that was taken may wait, in ms; 0: it starts at once. */
  replaceAfterMs: number;
  maxReadyAgeMs: () => number;
  clock: Clock;
}

interface WarmBrowser {
  session: BrowserSession;
  /** Forgets its retirement and its end. */
  release: () => void;
}

const RETRY_MS = { first: 1_000, max: 30_000 };
/** After the end of a taken browser, in ms: its run may be ending, too. */
const CALM_MS = 1_000;

/**
 * Keeps a number of browsers warm: replaces those that are taken, grow old or crash, and keeps trying when they fail.
 * The replacement of one that is taken leaves the processor to it: it starts when that browser has ended or after
 * `replaceAfterMs`, and at once when a caller has found none ready.
 */
export class WarmBrowsers {
  readonly #context: WarmBrowsersContext;
  readonly #ready: WarmBrowser[] = [];
  readonly #starting = new Set<BrowserSession>();
  #wanted = 0;
  #failures = 0;
  #lastError: string | null = null;
  #retry: Timer | undefined;
  /** Replacements that have not begun to start. */
  #deferred = 0;
  #deferral: Timer | undefined;
  #isInDemand = false;

  constructor(context: WarmBrowsersContext) {
    this.#context = context;
  }

  get ready(): number {
    return this.#ready.length;
  }

  get starting(): number {
    return this.#starting.size + this.#deferred;
  }

  get lastError(): string | null {
    return this.#lastError;
  }

  /** Whether one is missing whose last start failed. */
  get isFailing(): boolean {
    return this.#failures > 0 && this.#ready.length < this.#wanted;
  }

  /** Sets how many browsers to keep. Resolves when those too many have been stopped. */
  async keep(wanted: number): Promise<void> {
    this.#wanted = wanted;
    const surplus = this.#ready.splice(wanted);
    const rest = Math.max(0, this.#ready.length + this.#starting.size - wanted);
    const unneeded = rest > 0 ? [...this.#starting].slice(-rest) : [];
    this.#startDeferred();
    await Promise.all([...surplus.map((warm) => this.#stop(warm)), ...unneeded.map((session) => this.#drop(session))]);
  }

  /** Stops every ready browser and warms fresh ones; returns how many were stopped. */
  async flush(): Promise<number> {
    const stopped = this.#ready.splice(0);
    this.#startDeferred();
    await Promise.all(stopped.map((warm) => this.#stop(warm)));
    return stopped.length;
  }

  /** Like `flush`, with those that are starting: what they are started by has changed. */
  async rebuild(): Promise<void> {
    const starting = [...this.#starting];
    this.#starting.clear();
    this.#recover();
    await Promise.all([this.flush(), ...starting.map((session) => session.stop())]);
  }

  /** The browser that has waited longest. Its replacement counts as starting. */
  take(): BrowserSession | undefined {
    const warm = this.#ready.shift();
    if (!warm) return undefined;
    warm.release();
    const { replaceAfterMs } = this.#context;
    if (this.#isInDemand || replaceAfterMs === 0) this.#refill();
    else this.#replaceLater(warm.session, replaceAfterMs);
    return warm.session;
  }

  /** A caller has found none ready. From now on, replacements start at once. */
  demand(): void {
    this.#isInDemand = true;
    this.#startDeferred();
  }

  #replaceLater(taken: BrowserSession, replaceAfterMs: number): void {
    this.#deferred += 1;
    const after = (ms: number) => this.#context.clock.after(ms, () => this.#startDeferred()).unref();
    this.#deferral ??= after(replaceAfterMs);
    taken.onEnd(() => {
      this.#deferral?.cancel();
      this.#deferral = after(CALM_MS);
    });
  }

  #startDeferred(): void {
    this.#deferral?.cancel();
    this.#deferral = undefined;
    this.#deferred = 0;
    this.#refill();
  }

  #refill(): void {
    if (this.#retry) return;
    while (this.#ready.length + this.starting < this.#wanted) this.#startOne();
  }

  #startOne(): void {
    const session = this.#context.create();
    this.#starting.add(session);
    // Dropped while it waited for its turn: nothing to start.
    const started = this.#context.slots(async () => session.isLive && (await session.start()));
    started.then(
      () => this.#onStarted(session),
      (error: Error) => this.#onFailed(session, error),
    );
  }

  #onStarted(session: BrowserSession): void {
    if (!this.#starting.delete(session)) return; // dropped meanwhile
    if (session.status !== 'active') {
      this.#tryLater('A warm browser ended right after its start');
      return;
    }
    this.#recover();
    const { clock, maxReadyAgeMs } = this.#context;
    const retirement = clock.after(maxReadyAgeMs(), () => this.#retire(session)).unref();
    const unsubscribe = session.onEnd(() => this.#onLost(session));
    const release = () => {
      retirement.cancel();
      unsubscribe();
    };
    this.#ready.push({ session, release });
    this.#refill();
    this.#context.onReady();
  }

  #onFailed(session: BrowserSession, error: Error): void {
    if (this.#starting.delete(session)) this.#tryLater(error.message);
  }

  #tryLater(error: string): void {
    this.#lastError = error;
    const wait = Math.min(RETRY_MS.max, RETRY_MS.first * 2 ** this.#failures++);
    this.#retry ??= this.#context.clock
      .after(wait, () => {
        this.#retry = undefined;
        this.#refill();
      })
      .unref();
  }

  #recover(): void {
    this.#failures = 0;
    this.#retry?.cancel();
    this.#retry = undefined;
  }

  #retire(session: BrowserSession): void {
    const warm = this.#remove(session);
    if (warm) void this.#stop(warm);
    this.#refill();
  }

  #onLost(session: BrowserSession): void {
    const warm = this.#remove(session);
    warm?.release();
    this.#lastError = `A warm browser ended (${session.status})`;
    this.#refill();
  }

  #remove(session: BrowserSession): WarmBrowser | undefined {
    const index = this.#ready.findIndex((warm) => warm.session === session);
    return index === -1 ? undefined : this.#ready.splice(index, 1)[0];
  }

  #stop(warm: WarmBrowser): Promise<void> {
    warm.release();
    return warm.session.stop();
  }

  #drop(session: BrowserSession): Promise<void> {
    this.#starting.delete(session);
    return session.stop();
  }
}

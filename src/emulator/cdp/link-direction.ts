import type { Duplex } from 'node:stream';
import { clearTimeout, monotonicNow, setTimeout } from '../../common/clock.ts';

/** How much may be under way: a wire holds what fits in its length, and a sender that is faster has to wait. */
const MAX_UNDER_WAY = 16 * 1024 ** 2;

/** One direction of a link of some length: what goes in comes out later, whole and in order. */
export class LinkDirection {
  readonly #from: Duplex;
  readonly #to: Duplex;
  readonly #delayMs: number;
  /** `arrive` returns whether there is room for more. */
  readonly #underWay: { due: number; arrive: () => boolean; bytes: number }[] = [];
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #isBlocked = false;

  constructor(from: Duplex, to: Duplex, delayMs: number) {
    this.#from = from;
    this.#to = to;
    this.#delayMs = delayMs;
    if (delayMs === 0) {
      from.pipe(to);
      return;
    }
    from.on('data', (chunk: Buffer) => this.send(chunk));
    from.once('end', () => this.#sendLast(() => to.end()));
    to.on('drain', () => {
      this.#isBlocked = false;
      this.#deliver();
    });
    to.once('close', () => this.#drop());
  }

  /** Sends an additional chunk before later ones. */
  send(chunk: Buffer): void {
    if (this.#delayMs === 0) this.#to.write(chunk);
    else this.#send(() => this.#to.write(chunk), chunk.length);
  }

  /** Calls `action` when all that went in has come out: at once on a wire without length. */
  after(action: () => void): void {
    if (this.#delayMs === 0 || this.#to.destroyed) action();
    else this.#sendLast(action);
  }

  #sendLast(action: () => void): void {
    this.#send(() => {
      action();
      return true;
    });
  }

  #send(arrive: () => boolean, bytes = 0): void {
    this.#underWay.push({ due: monotonicNow() + this.#delayMs, arrive, bytes });
    this.#bytes += bytes;
    if (this.#bytes > MAX_UNDER_WAY) this.#from.pause();
    if (!this.#isBlocked) this.#schedule();
  }

  #schedule(): void {
    const [first] = this.#underWay;
    if (!first || this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#deliver();
    }, first.due - monotonicNow());
  }

  #deliver(): void {
    for (let first = this.#underWay[0]; first && first.due <= monotonicNow(); first = this.#underWay[0]) {
      this.#underWay.shift();
      this.#bytes -= first.bytes;
      this.#isBlocked = !first.arrive();
      if (this.#isBlocked) return;
    }
    if (this.#bytes <= MAX_UNDER_WAY && this.#from.isPaused()) this.#from.resume();
    this.#schedule();
  }

  #drop(): void {
    clearTimeout(this.#timer);
    this.#underWay.length = 0;
    this.#isBlocked = true; // nothing arrives at a socket that is closed
  }
}

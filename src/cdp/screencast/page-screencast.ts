import type { Protocol } from 'devtools-protocol';
import { type Clock, systemClock } from '../../common/clock.ts';
import { pause } from '../../common/pause.ts';
import { fieldsOf } from '../message.ts';
import type { BrowserCommands } from '../transport/interceptor.ts';
import type { Picture, PictureOptions } from './screencast.ts';

/** A picture as the browser sends it. */
export type NewPicture = Pick<Picture, 'at' | 'data' | 'height' | 'url' | 'width'>;

/** Where the pictures of a page go. */
export interface PictureEnds {
  /** Called with every picture's size in base64, including those that are not passed on. */
  count(bytes: number): void;
  address(): string;
  /** Called with one picture at a time. */
  take(picture: NewPicture): Promise<void>;
}

/** How soon a page that keeps changing has the next picture, in ms. */
const NEXT_MS = 100;
/** How often the screencast is started, {@link NEXT_MS} apart: a page between two processes rejects it. */
const STARTS = 50;

/**
 * The pictures of one page for one receiver. The browser sends a picture when the page has changed, and at most three
 * that are not acknowledged; it drops the pictures of all changes in the meantime, also of the last one. So:
 *
 * - A picture is acknowledged when the receiver has taken it and the pace allows the next one. A slow receiver or
 *   connection gets fewer pictures. Those that arrive while the receiver is busy replace each other.
 * - If a picture may have been dropped and none follows, the page does not change anymore. The screencast then starts
 *   again, which gives one picture of the page as it is now.
 * - After its first picture, the screencast pauses until the pace allows the next one: otherwise the browser reads
 *   every change of the page meanwhile, and many tests are over by then.
 */
export class PageScreencast {
  readonly #commands: BrowserCommands;
  readonly #sessionId: string;
  readonly #options: PictureOptions;
  readonly #ends: PictureEnds;
  readonly #clock: Clock;
  readonly #ended = new AbortController();
  /** The browser's numbers of unacknowledged pictures. */
  #unacknowledged: number[] = [];
  /** The newest picture, if the receiver has not taken it. */
  #waiting: NewPicture | undefined;
  #lastData = '';
  #lastUrl = '';
  /** When the last picture was taken or acknowledged, in ms since the epoch. */
  #lastAt = 0;
  #mayLack = false;
  #isFirst = true;
  #isPaused = false;
  #isRunning = false;
  #onArrival: () => void = () => undefined;

  constructor(
    commands: BrowserCommands,
    sessionId: string,
    options: PictureOptions,
    ends: PictureEnds,
    clock: Clock = systemClock,
  ) {
    this.#commands = commands;
    this.#sessionId = sessionId;
    this.#options = options;
    this.#ends = ends;
    this.#clock = clock;
  }

  /** Rejects when it ends before it has started. */
  async start(): Promise<void> {
    const { maxWidth, maxHeight, quality } = this.#options;
    const params = { format: 'jpeg' as const, quality, maxWidth, maxHeight };
    for (let count = 0; count < STARTS; count += 1) {
      const started = this.#commands.call('Page.startScreencast', params, this.#sessionId);
      const isStarted = await started.then(
        () => true,
        () => false,
      );
      if (isStarted) return;
      await pause(NEXT_MS, this.#ended.signal, this.#clock);
    }
  }

  /** No picture is taken anymore. */
  end(): void {
    this.#ended.abort();
    this.#waiting = undefined;
  }

  /** Takes the parameters of `Page.screencastFrame`. */
  onFrame(params: unknown): void {
    const { data, sessionId: number, metadata } = fieldsOf<Protocol.Page.ScreencastFrameEvent>(params);
    if (this.#ended.signal.aborted || typeof data !== 'string' || typeof number !== 'number') return;
    this.#ends.count(data.length);
    if (this.#isFirst) this.#pause();
    else if (!this.#isPaused) this.#unacknowledged.push(number);
    this.#mayLack = this.#unacknowledged.length > 1;
    // A page can change without looking different, and has not changed when the screencast starts again.
    const url = this.#ends.address();
    if (data !== this.#lastData || url !== this.#lastUrl) {
      this.#lastData = data;
      this.#lastUrl = url;
      this.#waiting = { at: this.#clock.now(), data, url, ...sizeOf(metadata) };
    }
    this.#onArrival();
    // Rejects when this or the page ends.
    if (!this.#isRunning) void this.#run().catch(() => undefined);
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      while (this.#waiting || this.#isPaused || this.#unacknowledged.length > 0) {
        if (this.#waiting) await this.#take(this.#waiting);
        else if (this.#isPaused) await this.#resume();
        else await this.#acknowledge();
      }
    } finally {
      this.#isRunning = false;
    }
  }

  async #take(picture: NewPicture): Promise<void> {
    this.#waiting = undefined;
    this.#lastAt = this.#clock.now();
    await this.#ends.take(picture);
    await this.#pace();
  }

  #pause(): void {
    this.#isFirst = false;
    this.#isPaused = true;
    this.#commands.post('Page.stopScreencast', {}, this.#sessionId);
  }

  async #resume(): Promise<void> {
    await this.#pace();
    this.#isPaused = false;
    await this.start();
  }

  async #acknowledge(): Promise<void> {
    await this.#pace();
    if (this.#waiting) return;
    this.#lastAt = this.#clock.now();
    const number = this.#unacknowledged.shift() ?? 0;
    // With its response, so that the time of a round trip does not count as a page that does not change.
    // It may be rejected during a navigation, and is when the page has closed.
    await this.#commands.call('Page.screencastFrameAck', { sessionId: number }, this.#sessionId).catch(() => undefined);
    await this.#nextPicture();
    if (this.#waiting || !this.#mayLack) return;
    this.#unacknowledged = [];
    this.#mayLack = false;
    this.#commands.post('Page.stopScreencast', {}, this.#sessionId);
    await this.start();
  }

  /** Waits until the pace allows another picture. */
  async #pace(): Promise<void> {
    const wait = this.#lastAt + 1000 / this.#options.perSecond - this.#clock.now();
    if (wait > 0) await pause(wait, this.#ended.signal, this.#clock);
    this.#ended.signal.throwIfAborted();
  }

  /** Waits for a picture that follows an acknowledgement, if one does. */
  async #nextPicture(): Promise<void> {
    if (this.#waiting) return;
    await new Promise<void>((resolve) => {
      const timer = this.#clock.after(NEXT_MS, resolve);
      this.#onArrival = () => {
        timer.cancel();
        resolve();
      };
    });
    this.#ended.signal.throwIfAborted();
  }
}

/** The size of the page's visible part. A page without a mobile layout is scaled down on an emulated phone. */
function sizeOf(metadata: unknown): Pick<Picture, 'height' | 'width'> {
  const { deviceWidth, deviceHeight, pageScaleFactor } = fieldsOf<Protocol.Page.ScreencastFrameMetadata>(metadata);
  const scale = positive(pageScaleFactor) || 1;
  return { width: Math.round(positive(deviceWidth) / scale), height: Math.round(positive(deviceHeight) / scale) };
}

function positive(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : 0;
}

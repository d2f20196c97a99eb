import type { PageInput } from '../../common/page/page-input.ts';

/** What a receiver of pictures asks for. */
export interface PictureOptions {
  /** The largest size of a picture, in pixels. It keeps the page's proportions. */
  maxWidth: number;
  maxHeight: number;
  /** JPEG quality, 0 to 100. */
  quality: number;
  /** The most pictures per second of each page. */
  perSecond: number;
}

export interface Picture {
  /** ID of the page's target. */
  target: string;
  /** Address of the page. May contain secrets. */
  url: string;
  /** When it arrived, in ms since the epoch. */
  at: number;
  /** Size of the page's visible part, in CSS pixels. The picture has the same proportions. */
  width: number;
  height: number;
  /** JPEG in base64, as received. */
  data: string;
}

export interface PictureReceiver {
  readonly options: PictureOptions;
  /**
   * Called with a picture of a page that has changed. That page's next picture comes only after the promise has
   * resolved. It must not reject.
   */
  onPicture(picture: Picture): Promise<void>;
  /** Called with the address of a page whenever it may have changed. @param target ID of the page's target */
  onAddress?(target: string, url: string): void;
  /** Called when a page that had pictures is gone. */
  onPageEnd?(target: string): void;
}

/** Takes and controls pages. */
export interface ScreencastListener {
  started(receiver: PictureReceiver): void;
  stopped(receiver: PictureReceiver): void;
  /** See {@link Screencast.takeOver}. */
  takeOver(): Control;
}

/** A person's control over pages. */
export interface Control {
  /** Passes an input on to a page. Ignored for a page that the client does not know. @param target ID of the page */
  input(target: string, input: PageInput): void;
  end(): void;
}

/**
 * Starts and stops pictures of a connection's pages, and lets a person control these pages. Without a receiver and
 * without inputs, nothing is sent and nothing received.
 */
export class Screencast {
  /**
   * How long a new page may take to load before its first picture, in ms. A session and a screencast for a picture of
   * an empty page would cost as much as the page itself, and a short test would end before the next picture.
   */
  readonly loadMs: number;
  readonly #receivers = new Set<PictureReceiver>();
  #listener: (() => Promise<ScreencastListener | null>) | undefined;
  #bytes = 0;

  constructor(loadMs = 500) {
    this.loadMs = loadMs;
  }

  get receivers(): Iterable<PictureReceiver> {
    return this.#receivers;
  }

  /** Whether there is a connection in this process that has pages. */
  get isConnected(): boolean {
    return this.#listener !== undefined;
  }

  /** Bytes that pictures had when they arrived, in base64. */
  bytes(): number {
    return this.#bytes;
  }

  /**
   * Gives a receiver pictures of all pages that the client knows, now and later. Each receiver has its own size and
   * pace. Returns a function that stops it.
   */
  start(receiver: PictureReceiver): () => void {
    this.#receivers.add(receiver);
    void this.#notify((listener) => listener.started(receiver));
    return () => {
      if (this.#receivers.delete(receiver)) void this.#notify((listener) => listener.stopped(receiver));
    };
  }

  /** Lets a person control the pages, as they see them in the pictures. Neither the client nor a page can notice. */
  takeOver(): Control {
    const control = this.#listener?.().then((listener) => listener?.takeOver());
    return {
      input: (target, input) => void control?.then((loaded) => loaded?.input(target, input)),
      end: () => void control?.then((loaded) => loaded?.end()),
    };
  }

  /**
   * Sets who takes and controls the pages.
   * @param listener resolves with null when the connection has ended
   */
  connect(listener: () => Promise<ScreencastListener | null>): void {
    this.#listener = listener;
  }

  count(bytes: number): void {
    this.#bytes += bytes;
  }

  async #notify(call: (listener: ScreencastListener) => void): Promise<void> {
    const listener = await this.#listener?.();
    if (listener) call(listener);
  }
}

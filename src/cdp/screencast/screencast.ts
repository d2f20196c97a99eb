import type { PictureReceiver } from './picture.ts';

/** Called when a receiver starts or stops. */
export interface ScreencastListener {
  started(receiver: PictureReceiver): void;
  stopped(receiver: PictureReceiver): void;
}

/** Starts and stops pictures of a connection's pages. Without a receiver, nothing is sent and nothing received. */
export class Screencast {
  readonly #receivers = new Set<PictureReceiver>();
  #listener: ScreencastListener | undefined;
  #bytes = 0;

  get receivers(): Iterable<PictureReceiver> {
    return this.#receivers;
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
    this.#listener?.started(receiver);
    return () => {
      if (this.#receivers.delete(receiver)) this.#listener?.stopped(receiver);
    };
  }

  /** Sets who takes the pictures. */
  connect(listener: ScreencastListener): void {
    this.#listener = listener;
  }

  count(bytes: number): void {
    this.#bytes += bytes;
  }
}

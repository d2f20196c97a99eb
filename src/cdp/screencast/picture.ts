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

/** A picture of a page. */
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

/** Receives pictures of pages. */
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

import type { PageSize } from '../../common/page/page-input.ts';
import { within } from '../../common/pause.ts';
import type { Target } from '../model/session.ts';
import type { InterceptorTransport } from '../transport/interceptor.ts';
import type { BrowserSession } from './browser-session.ts';
import { type NewPicture, PageScreencast } from './page-screencast.ts';
import type { PictureReceiver } from './screencast.ts';

/** What a page's pictures show besides the page. */
export interface FilmedPageEnds {
  /** Called with the size of each picture in base64. */
  count(bytes: number): void;
  /** Called with the page's size. */
  sized(size: PageSize): void;
}

/** A page whose pictures one receiver gets, through a separate session. */
export class FilmedPage {
  readonly #transport: InterceptorTransport;
  readonly #browser: BrowserSession;
  readonly #target: Target;
  readonly #receiver: PictureReceiver;
  readonly #ends: FilmedPageEnds;
  #sessionId: string | undefined;
  #screencast: PageScreencast | undefined;
  #hasEnded = false;
  #onLoad: () => void = () => undefined;

  constructor(
    transport: InterceptorTransport,
    browser: BrowserSession,
    target: Target,
    receiver: PictureReceiver,
    ends: FilmedPageEnds,
  ) {
    this.#transport = transport;
    this.#browser = browser;
    this.#target = target;
    this.#receiver = receiver;
    this.#ends = ends;
  }

  /**
   * Takes the first picture when the page has loaded. Rejects when the page or the connection has closed.
   * @param waitMs the longest wait for it to load, in ms
   */
  async openLoaded(waitMs: number): Promise<void> {
    const loaded = new Promise<void>((resolve) => {
      this.#onLoad = resolve;
    });
    await within(loaded, waitMs, undefined);
    if (!this.#hasEnded) await this.open();
  }

  /** The page has loaded a document. */
  loaded(): void {
    if (isAddress(this.#target.address)) this.#onLoad();
  }

  /** Rejects when the page or the connection has closed. */
  async open(): Promise<void> {
    const sessionId = await this.#browser.attach(this.#target.id);
    this.#sessionId = sessionId;
    if (this.#hasEnded) return this.#detach();
    const ends = {
      count: this.#ends.count,
      // A new page has no address yet.
      address: () => this.#target.address || 'about:blank',
      take: (picture: NewPicture) => this.#take(picture),
    };
    const screencast = new PageScreencast(this.#transport, sessionId, this.#receiver.options, ends);
    this.#screencast = screencast;
    this.#transport.view.listen(sessionId, ({ method, params }) => {
      if (method === 'Page.screencastFrame') screencast.onFrame(params);
    });
    await screencast.start();
  }

  end(): void {
    this.#hasEnded = true;
    this.#onLoad();
    this.#screencast?.end();
    this.#detach();
  }

  #detach(): void {
    if (this.#sessionId !== undefined && this.#transport.model.session(this.#sessionId)) {
      this.#browser.detach(this.#sessionId);
    }
  }

  async #take(picture: NewPicture): Promise<void> {
    this.#ends.sized(picture);
    // The client may believe that the page is closed.
    if (![...this.#target.sessions].some(({ isShown }) => isShown)) return;
    await this.#receiver.onPicture({ target: this.#target.id, ...picture });
  }
}

function isAddress(address: string): boolean {
  return address !== '' && address !== 'about:blank';
}

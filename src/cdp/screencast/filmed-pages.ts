import type { PageInput, PageSize } from '../../common/page/page-input.ts';
import type { CdpMessage } from '../message.ts';
import type { Session, Target } from '../model/session.ts';
import type { InterceptorTransport } from '../transport/interceptor.ts';
import { BrowserSession } from './browser-session.ts';
import { ControlledPage } from './controlled-page.ts';
import { FilmedPage } from './filmed-page.ts';
import type { Control, PictureReceiver, Screencast, ScreencastListener } from './screencast.ts';

/**
 * Takes the pictures of a {@link Screencast}: of each page that the client has been shown, until it closes, through a
 * separate session for each receiver. Passes a person's inputs on through another one. Neither the client nor the page
 * can notice. Without a receiver and without inputs, it opens no session and sends no command.
 */
export class FilmedPages implements ScreencastListener {
  readonly #transport: InterceptorTransport;
  readonly #screencast: Screencast;
  readonly #browser: BrowserSession;
  readonly #pages = new Map<Target, Map<PictureReceiver, FilmedPage>>();
  readonly #sizes = new WeakMap<Target, PageSize>();
  readonly #controls = new Set<ControlledPages>();

  constructor(transport: InterceptorTransport, screencast: Screencast) {
    this.#transport = transport;
    this.#screencast = screencast;
    this.#browser = new BrowserSession(transport);
    transport.view.onShown(({ target }) => {
      for (const receiver of screencast.receivers) this.#film(target, receiver, true);
    });
    transport.model.onSessionEnd((session) => this.#onSessionEnd(session));
  }

  /** Takes an event before the client does. */
  observe({ method, sessionId }: CdpMessage): void {
    if (method !== 'Page.loadEventFired' && method !== 'Page.frameNavigated') return;
    const target = this.#transport.model.session(sessionId)?.target;
    for (const [receiver, page] of (target && this.#pages.get(target)) ?? []) {
      if (method === 'Page.loadEventFired') page.loaded();
      else if (target?.address) receiver.onAddress?.(target.id, target.address);
    }
  }

  started(receiver: PictureReceiver): void {
    for (const { isShown, target } of this.#transport.model.sessions())
      if (isShown) this.#film(target, receiver, false);
  }

  stopped(receiver: PictureReceiver): void {
    for (const [target, filmed] of [...this.#pages]) {
      filmed.get(receiver)?.end();
      filmed.delete(receiver);
      if (filmed.size === 0) this.#pages.delete(target);
    }
    this.#closeIfUnused();
  }

  takeOver(): ControlledPages {
    const sizeOf = (target: Target) => this.#sizes.get(target);
    const control = new ControlledPages(this.#transport, this.#browser, sizeOf, () => {
      this.#controls.delete(control);
      this.#closeIfUnused();
    });
    this.#controls.add(control);
    return control;
  }

  end(): void {
    for (const target of [...this.#pages.keys()]) this.#endPage(target);
  }

  #film(target: Target, receiver: PictureReceiver, isNew: boolean): void {
    if (target.type !== 'page' || this.#pages.get(target)?.has(receiver)) return;
    const ends = {
      count: (bytes: number) => this.#screencast.count(bytes),
      sized: (size: PageSize) => void this.#sizes.set(target, { width: size.width, height: size.height }),
    };
    const page = new FilmedPage(this.#transport, this.#browser, target, receiver, ends);
    const filmed = this.#pages.get(target) ?? new Map<PictureReceiver, FilmedPage>();
    this.#pages.set(target, filmed.set(receiver, page));
    // It fails for a page that has just closed.
    (isNew ? page.openLoaded(this.#screencast.loadMs) : page.open()).catch(() => undefined);
  }

  #closeIfUnused(): void {
    const [receiver] = this.#screencast.receivers;
    if (!receiver && this.#controls.size === 0) void this.#browser.close();
  }

  #onSessionEnd(ended: Session): void {
    const { target } = ended;
    const isShown = [...target.sessions].some((session) => session !== ended && session.isShown);
    if (!isShown) this.#endPage(target);
  }

  #endPage(target: Target): void {
    const filmed = this.#pages.get(target);
    this.#pages.delete(target);
    for (const control of this.#controls) control.endPage(target);
    for (const [receiver, page] of filmed ?? []) {
      page.end();
      receiver.onPageEnd?.(target.id);
    }
  }
}

/** The pages that a person controls, each from its first input on. */
class ControlledPages implements Control {
  readonly #transport: InterceptorTransport;
  readonly #browser: BrowserSession;
  readonly #sizeOf: (target: Target) => PageSize | undefined;
  readonly #onEnd: () => void;
  readonly #pages = new Map<Target, ControlledPage>();
  #hasEnded = false;

  /** @param sizeOf the size of a page as its pictures show it; undefined without a picture */
  constructor(
    transport: InterceptorTransport,
    browser: BrowserSession,
    sizeOf: (target: Target) => PageSize | undefined,
    onEnd: () => void,
  ) {
    this.#transport = transport;
    this.#browser = browser;
    this.#sizeOf = sizeOf;
    this.#onEnd = onEnd;
  }

  input(targetId: string, input: PageInput): void {
    const target = this.#transport.model.target(targetId);
    const isShown = target?.type === 'page' && [...target.sessions].some((session) => session.isShown);
    if (!target || !isShown || this.#hasEnded) return;
    let page = this.#pages.get(target);
    if (!page) {
      page = new ControlledPage(this.#transport, this.#browser, target, () => this.#sizeOf(target));
      this.#pages.set(target, page);
    }
    page.input(input);
  }

  /** A page has closed. */
  endPage(target: Target): void {
    this.#pages.get(target)?.end();
    this.#pages.delete(target);
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const page of this.#pages.values()) page.end();
    this.#onEnd();
  }
}

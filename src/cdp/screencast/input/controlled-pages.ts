import type { PageInput, PageSize } from '../../../common/page/page-input.ts';
import type { Target } from '../../model/session.ts';
import type { InterceptorTransport } from '../../transport/interceptor.ts';
import type { BrowserSession } from '../browser-session.ts';
import type { Control } from '../screencast.ts';
import { ControlledPage } from './controlled-page.ts';

/** The pages that a person controls, each from its first input on. */
export class ControlledPages implements Control {
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

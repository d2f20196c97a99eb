import type { SlotView } from '../../broker/watch/view.ts';
import { element } from '../../common/page/dom.ts';
import type { PageInput } from '../../common/page/page-input.ts';
import { draw, type Pictures } from './pictures.ts';
import { HoldBar } from './take-over/hold-bar.ts';
import { TakeOver } from './take-over/take-over.ts';
import { isEmptyPage, missingPicture } from './texts.ts';
import { setChildren, setLine, setText } from './update.ts';

const AT_HAND = 'Click the page, or Tab to it, to use it.';
const IN_PAGE = 'Your keyboard goes to the page; Ctrl+Shift+Enter gives it back.';

/** The large picture of a slot: a tab for each page; on hold, the reader can use the page. */
export class LiveView {
  readonly root: HTMLElement;
  readonly #tabs = element('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Pages' });
  readonly #canvas = element('canvas', { role: 'img' });
  readonly #screen: HTMLElement;
  readonly #missing = element('p', { class: 'missing' });
  /** Takes up its space for the whole hold: otherwise the picture would move under the pointer. */
  readonly #keyboard = element('span', { class: 'keyboard' });
  readonly #leave = element('button', { type: 'button' }, 'Leave the page');
  readonly #hold: HoldBar;
  readonly #takeOver: TakeOver;
  #pictures: Pictures | null = null;
  #run = '';
  #now = 0;
  #view: SlotView | null = null;
  /** The tab that the reader chose; null: the page that opened last. */
  #chosen: string | null = null;

  /** @param onLeave focuses what is beside the page, when the reader leaves it */
  constructor(send: (target: string, input: PageInput) => void, onRelease: () => void, onLeave: () => void) {
    this.#hold = new HoldBar(onRelease, this.#keyboard, this.#leave);
    this.#showKeyboard(false);
    this.#takeOver = new TakeOver((input) => {
      if (this.#target !== undefined) send(this.#target, input);
    }, onLeave);
    this.#leave.addEventListener('click', onLeave);
    this.#takeOver.root.addEventListener('focus', () => this.#showKeyboard(true));
    this.#takeOver.root.addEventListener('blur', () => this.#showKeyboard(false));
    this.#screen = element('div', { class: 'screen' }, this.#canvas, this.#takeOver.root);
    const panel = element(
      'div',
      { class: 'stage', role: 'tabpanel', 'aria-label': 'Page' },
      this.#screen,
      this.#missing,
    );
    this.root = element('div', { class: 'live' }, this.#hold.root, this.#tabs, panel);
    this.#tabs.addEventListener('keydown', (event) => this.#onTabKey(event));
  }

  update(run: string, view: SlotView, pictures: Pictures, now: number): void {
    if (run !== this.#run || view.slot !== this.#view?.slot) this.#chosen = null;
    this.#run = run;
    this.#view = view;
    this.#pictures = pictures;
    this.#now = now;
    this.#hold.update(view.hold, now);
    const target = this.#target;
    this.#updateTabs(view, target);
    const picture = pictures.get(run, view.slot, target);
    draw(this.#canvas, picture);
    if (picture) this.#screen.style.setProperty('--ratio', String(picture.bitmap.width / picture.bitmap.height));
    this.#canvas.setAttribute('aria-label', `Live picture of ${picture?.url ?? 'the page'}`);
    setText(this.#missing, picture ? '' : missingPicture(view));
    this.#takeOver.isOn = view.hold !== null && picture !== undefined;
  }

  get #target(): string | undefined {
    const { pages = [] } = this.#view ?? {};
    if (pages.some(({ target }) => target === this.#chosen)) return this.#chosen ?? undefined;
    return this.#view ? this.#pictures?.shownTarget(this.#run, this.#view) : undefined;
  }

  #updateTabs(view: SlotView, target: string | undefined): void {
    const pages = view.pages.filter((page) => !isEmptyPage(page.url) || page.target === target);
    const known = [...this.#tabs.querySelectorAll('button')];
    const tabs = pages.map((page) => {
      const tab = known.find(({ value }) => value === page.target) ?? this.#newTab(page.target);
      const isShown = page.target === target;
      setLine(tab, page.url || 'about:blank');
      tab.setAttribute('aria-selected', String(isShown));
      tab.tabIndex = isShown ? 0 : -1;
      return tab;
    });
    if (tabs[0] && !tabs.some(({ tabIndex }) => tabIndex === 0)) tabs[0].tabIndex = 0;
    setChildren(this.#tabs, tabs);
    this.#tabs.hidden = tabs.length === 0;
  }

  #newTab(target: string): HTMLButtonElement {
    const tab = element('button', { type: 'button', role: 'tab', value: target });
    tab.addEventListener('click', () => this.#choose(target));
    return tab;
  }

  #choose(target: string): void {
    this.#chosen = target;
    if (this.#view && this.#pictures) this.update(this.#run, this.#view, this.#pictures, this.#now);
  }

  #onTabKey(event: KeyboardEvent): void {
    const tabs = [...this.#tabs.querySelectorAll('button')];
    const at = tabs.findIndex((tab) => tab.matches(':focus'));
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const tab = tabs[(to + tabs.length) % tabs.length];
    if (!tab) return;
    this.#choose(tab.value);
    tab.focus();
  }

  #showKeyboard(isInPage: boolean): void {
    setText(this.#keyboard, isInPage ? IN_PAGE : AT_HAND);
    this.#leave.disabled = !isInPage;
    this.#hold.root.classList.toggle('in-page', isInPage);
  }
}

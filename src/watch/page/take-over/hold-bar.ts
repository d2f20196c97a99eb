import type { HoldView } from '../../../broker/watch/view.ts';
import { element } from '../../../common/page/dom.ts';
import { duration, holdReason } from '../texts.ts';
import { setText } from '../update.ts';

/** Says why a test waits and until when, with the button that lets it continue. */
export class HoldBar {
  readonly root: HTMLElement;
  readonly #reason = element('span');
  readonly #left = element('b');

  /**
   * @param note further text, such as what the reader can do
   * @param button placed before the one that lets the test continue
   */
  constructor(onRelease: () => void, note: Node, button: HTMLElement) {
    const release = element('button', { type: 'button', 'aria-label': 'Continue the test' }, 'Continue');
    release.addEventListener('click', onRelease);
    const text = element(
      'div',
      {},
      element('p', {}, element('strong', {}, 'On hold: '), this.#reason),
      element('p', { class: 'left' }, 'Continues by itself in ', this.#left, '. ', note),
    );
    const actions = element('div', { class: 'buttons' }, button, release);
    this.root = element('div', { class: 'hold', hidden: '' }, text, actions);
  }

  update(hold: HoldView | null, now: number): void {
    this.root.hidden = hold === null;
    if (!hold) return;
    setText(this.#reason, holdReason(hold.reason));
    setText(this.#left, duration(hold.until - now));
  }
}

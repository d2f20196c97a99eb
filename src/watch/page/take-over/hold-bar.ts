import type { HoldView } from '../../../broker/watch/view.ts';
import { element } from '../../../common/page/dom.ts';
import { holdText } from '../texts.ts';
import { setText } from '../update.ts';

/** Says why a test waits and until when, with the button that lets it continue. */
export class HoldBar {
  readonly root: HTMLElement;
  readonly #text = element('span', {});

  /** @param others further buttons */
  constructor(onRelease: () => void, ...others: HTMLElement[]) {
    const release = element('button', { type: 'button' }, 'Continue the test');
    release.addEventListener('click', onRelease);
    const text = element('p', {}, element('strong', {}, 'On hold: '), this.#text);
    this.root = element(
      'div',
      { class: 'hold', hidden: '' },
      text,
      element('div', { class: 'buttons' }, release, others),
    );
  }

  update(hold: HoldView | null, now: number): void {
    this.root.hidden = hold === null;
    if (hold) setText(this.#text, holdText(hold.reason, hold.until - now));
  }
}

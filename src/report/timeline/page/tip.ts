import { element } from '../../../common/page/dom.ts';

/** Distance between an item and its details, in px. */
const GAP = 8;

/** The tooltip with details of the hovered or focused item. */
export class Tip {
  readonly #box = element('div', { id: 'tip', role: 'tooltip', hidden: '' });

  constructor() {
    document.body.append(this.#box);
    document.addEventListener('keydown', ({ key }) => {
      if (key === 'Escape') this.hide();
    });
  }

  /** @param x position of the pointer in px; null: at the start of the item */
  show(item: Element, details: Node, x: number | null): void {
    const box = this.#box;
    box.replaceChildren(details);
    box.hidden = false;
    const at = item.getBoundingClientRect();
    const { width, height } = box.getBoundingClientRect();
    const left = Math.min((x ?? Math.max(at.left, 0)) + GAP, document.documentElement.clientWidth - width - GAP);
    const below = at.bottom + GAP;
    const fits = below + height <= document.documentElement.clientHeight - GAP;
    box.style.left = `${Math.max(GAP, left)}px`;
    box.style.top = `${fits ? below : Math.max(GAP, at.top - height - GAP)}px`;
  }

  hide(): void {
    this.#box.hidden = true;
  }
}

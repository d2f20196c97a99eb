import type { SlotView } from '../../broker/watch/view.ts';
import { element } from '../../common/page/dom.ts';
import { draw, type Pictures } from './pictures.ts';
import { HoldBar } from './take-over/hold-bar.ts';
import { duration, joined, missingPicture, shortAddress, slotSince, slotState, slotTitle, stateOf } from './texts.ts';
import { setLine, setText } from './update.ts';

/** The reader's actions in a tile. */
export interface TileActions {
  onEnlarge(run: string, slot: number): void;
  onRelease(run: string, slot: number): void;
}

/** One worker slot: its browser's picture, and what runs there. */
export class Tile {
  readonly root: HTMLLIElement;
  readonly run: string;
  readonly slot: number;
  /** Whether the reader can see it. */
  isVisible = false;
  readonly #canvas = element('canvas', { 'aria-hidden': 'true' });
  readonly #missing = element('span', { class: 'missing' });
  readonly #enlarge = element('button', { type: 'button', class: 'picture' }, this.#canvas, this.#missing);
  readonly #title = element('h3');
  readonly #state = element('span', { class: 'state' });
  readonly #facts = element('span', { class: 'facts' });
  readonly #time = element('span', { class: 'time' });
  readonly #step = element('p', { class: 'step' });
  readonly #address = element('p', { class: 'address' });
  readonly #session = element('p', { class: 'session' });
  readonly #hold: HoldBar;

  constructor(run: string, slot: number, actions: TileActions) {
    this.run = run;
    this.slot = slot;
    const takeOver = element('button', { type: 'button', class: 'main' }, 'Take over');
    this.#hold = new HoldBar(() => actions.onRelease(run, slot), document.createTextNode(''), takeOver);
    for (const button of [this.#enlarge, takeOver]) {
      button.addEventListener('click', () => actions.onEnlarge(run, slot));
    }
    this.#enlarge.setAttribute('aria-label', `Enlarge slot ${slot}`);
    const status = element('p', { class: 'status' }, this.#state, ' ', this.#facts, ' ', this.#time);
    const details = element('div', { class: 'details' }, this.#step, this.#address, this.#session);
    const text = element('div', { class: 'text' }, this.#title, status, details, this.#hold.root);
    this.root = element('li', { class: 'tile' }, this.#enlarge, text);
  }

  update(view: SlotView, pictures: Pictures, now: number): void {
    const target = pictures.shownTarget(this.run, view);
    const page = view.pages.find((each) => each.target === target) ?? view.pages.at(-1);
    this.root.dataset.state = stateOf(view);
    draw(this.#canvas, pictures.get(this.run, view.slot, target));
    setText(this.#missing, this.#canvas.hidden ? missingPicture(view) : '');
    setLine(this.#title, slotTitle(view));
    setText(this.#state, slotState(view));
    setText(this.#facts, joined(`slot ${view.slot}`, view.test?.project ?? null));
    setText(this.#time, duration(now - slotSince(view)));
    setLine(this.#step, view.test?.step ?? '');
    setLine(this.#address, page?.url ?? '', shortAddress(page?.url ?? ''));
    setLine(this.#session, view.sessionId === null ? '' : `session ${view.sessionId}`);
    this.#hold.update(view.hold, now);
  }

  focus(): void {
    this.#enlarge.focus();
  }
}

import { element } from '../../common/page/dom.ts';
import type { PageInput } from '../../common/page/page-input.ts';
import { pictureAddress } from './finished-tests.ts';
import { LiveView } from './live-view.ts';
import type { Pictures } from './pictures.ts';
import type { Store } from './store.ts';
import { duration, joined, slotSince, slotState, slotTitle, testFacts } from './texts.ts';
import { setText } from './update.ts';

/** The enlarged picture: of a slot, or the last one of a test. */
export type Enlarged = { run: string; slot: number } | { run: string; test: string };

export interface ViewerActions {
  send(run: string, slot: number, target: string, input: PageInput): void;
  release(run: string, slot: number): void;
  /** After it was opened or closed, or shows another slot. */
  onChange(): void;
  /** All pictures that can be enlarged instead, in the order of the page. */
  neighbours(shown: Enlarged): Enlarged[];
}

/** The dialog with a large picture. */
export class Viewer {
  readonly #dialog: HTMLDialogElement;
  readonly #title = element('h2', { id: 'viewer-title' });
  readonly #facts = element('p', { class: 'facts' });
  readonly #previous = button('Previous', '←');
  readonly #next = button('Next', '→');
  readonly #close = button('Close', '✕');
  readonly #image = element('img', { alt: 'The last picture of the test' });
  readonly #live: LiveView;
  readonly #actions: ViewerActions;
  #shown: Enlarged | null = null;

  constructor(actions: ViewerActions) {
    this.#actions = actions;
    this.#live = new LiveView(
      (target, input) => this.#onSlot(({ run, slot }) => actions.send(run, slot, target, input)),
      () => this.#onSlot(({ run, slot }) => actions.release(run, slot)),
      () => this.#close.focus(),
    );
    const buttons = element('div', { class: 'buttons' }, this.#previous, this.#next, this.#close);
    const bar = element('div', { class: 'bar' }, this.#title, buttons);
    this.#dialog = element(
      'dialog',
      { 'aria-labelledby': 'viewer-title' },
      bar,
      this.#facts,
      this.#live.root,
      this.#image,
    );
    document.body.append(this.#dialog);
    this.#previous.addEventListener('click', () => this.#step(-1));
    this.#next.addEventListener('click', () => this.#step(1));
    this.#close.addEventListener('click', () => this.#dialog.close());
    this.#dialog.addEventListener('keydown', ({ key }) => {
      if (key === 'ArrowLeft') this.#step(-1);
      if (key === 'ArrowRight') this.#step(1);
    });
    this.#dialog.addEventListener('close', () => {
      this.#shown = null;
      actions.onChange();
    });
  }

  get slot(): { run: string; slot: number } | null {
    return this.#shown && 'slot' in this.#shown ? this.#shown : null;
  }

  get isOpen(): boolean {
    return this.#shown !== null;
  }

  open(what: Enlarged): void {
    this.#shown = what;
    this.#actions.onChange();
    if (!this.#dialog.open) this.#dialog.showModal();
  }

  update(store: Store, pictures: Pictures): void {
    const shown = this.#shown;
    if (!shown) return;
    const hasNeighbours = this.#actions.neighbours(shown).length > 1;
    this.#previous.disabled = !hasNeighbours;
    this.#next.disabled = !hasNeighbours;
    const isSlot = 'slot' in shown;
    this.#live.root.hidden = !isSlot;
    this.#image.hidden = isSlot;
    if (isSlot) this.#updateSlot(shown.run, shown.slot, store, pictures);
    else this.#updateTest(shown.run, shown.test, store);
  }

  #updateSlot(run: string, slot: number, store: Store, pictures: Pictures): void {
    const view = store.run(run)?.endedAt === null ? store.slot(run, slot) : undefined;
    if (!view) {
      this.#dialog.close();
      return;
    }
    const now = store.now();
    setText(this.#title, slotTitle(view));
    const { test, sessionId } = view;
    const session = sessionId === null ? null : `session ${sessionId}`;
    const facts = [`slot ${slot}`, slotState(view), test?.project ?? null, duration(now - slotSince(view))];
    setText(this.#facts, joined(...facts, test?.step ?? null, session));
    this.#live.update(run, view, pictures, now);
  }

  #updateTest(run: string, id: string, store: Store): void {
    const test = store.run(run)?.finished.get(id);
    if (!test) {
      this.#dialog.close();
      return;
    }
    setText(this.#title, test.title);
    setText(this.#facts, joined(testFacts(test), test.sessionId === null ? null : `session ${test.sessionId}`));
    const address = pictureAddress(run, id);
    if (this.#image.getAttribute('src') !== address) this.#image.src = address;
  }

  #onSlot(act: (shown: { run: string; slot: number }) => void): void {
    if (this.slot) act(this.slot);
  }

  #step(by: 1 | -1): void {
    if (!this.#shown) return;
    const key = JSON.stringify(this.#shown);
    const all = this.#actions.neighbours(this.#shown);
    const at = all.findIndex((each) => JSON.stringify(each) === key);
    const next = all[(at + by + all.length) % all.length];
    if (next) this.open(next);
  }
}

function button(label: string, sign: string): HTMLButtonElement {
  return element('button', { type: 'button', 'aria-label': label, title: label }, sign);
}

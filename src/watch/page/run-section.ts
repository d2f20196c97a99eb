import { element } from '../../common/page/dom.ts';
import { FinishedTests } from './finished-tests.ts';
import type { Pictures } from './pictures.ts';
import type { Run } from './store.ts';
import { runFacts } from './texts.ts';
import { Tile, type TileActions } from './tile.ts';
import { Parts, setChildren, setText } from './update.ts';

export interface RunActions extends TileActions {
  onEnlargeTest(run: string, test: string): void;
  /** Tells whether the reader can see tiles. */
  observer: IntersectionObserver;
}

/** One run: its slots, and its finished tests. */
export class RunSection {
  readonly root: HTMLElement;
  readonly finished: FinishedTests;
  tiles: Tile[] = [];
  readonly #name: HTMLHeadingElement;
  readonly #facts = element('p', { class: 'facts' });
  readonly #tiles = element('ul', { class: 'tiles' });
  readonly #parts = new Parts<number, Tile>();

  constructor(
    private readonly id: string,
    private readonly actions: RunActions,
  ) {
    this.#name = element('h2', { id: `run-${id}` });
    this.finished = new FinishedTests(id, actions.onEnlargeTest);
    this.root = element('section', { class: 'run', 'aria-labelledby': `run-${id}` });
    this.root.append(this.#name, this.#facts, this.#tiles, this.finished.root);
  }

  update(run: Run, pictures: Pictures, now: number): void {
    setText(this.#name, run.name);
    setText(this.#facts, runFacts(run, now));
    // After its end a run has no browsers.
    const slots = run.endedAt === null ? run.slots : [];
    const last = this.tiles;
    this.tiles = this.#parts.sync(
      slots.map(({ slot }) => slot),
      (slot) => this.#newTile(slot),
    );
    for (const tile of last) if (!this.tiles.includes(tile)) this.actions.observer.unobserve(tile.root);
    for (const [at, slot] of slots.entries()) this.tiles[at]?.update(slot, pictures, now);
    setChildren(
      this.#tiles,
      this.tiles.map(({ root }) => root),
    );
    this.#tiles.hidden = slots.length === 0;
    this.#tiles.dataset.size = slots.length <= 2 ? 'large' : slots.length <= 6 ? 'medium' : 'small';
    this.finished.update(run);
  }

  #newTile(slot: number): Tile {
    const tile = new Tile(this.id, slot, this.actions);
    this.actions.observer.observe(tile.root);
    return tile;
  }
}

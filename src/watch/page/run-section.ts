import { element } from '../../common/page/dom.ts';
import { FinishedTests } from './finished-tests.ts';
import type { Pictures } from './pictures.ts';
import type { Run } from './store.ts';
import { runFacts, runTime } from './texts.ts';
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
  readonly #name = element('h2');
  readonly #time = element('span', { class: 'state' });
  readonly #passed = element('span', { 'data-result': 'passed' });
  readonly #failed = element('span', { 'data-result': 'failed' });
  readonly #waiting = element('span', { 'data-state': 'waiting' });
  readonly #held = element('button', { type: 'button', title: 'Enlarge the first one' });
  readonly #facts = element('p', { class: 'facts' });
  readonly #tiles = element('ul', { class: 'tiles' });
  readonly #parts = new Parts<number, Tile>();
  #firstHeld = 0;

  constructor(
    private readonly id: string,
    private readonly actions: RunActions,
  ) {
    this.finished = new FinishedTests(id, actions.onEnlargeTest);
    // No landmark: several runs may have one name.
    this.root = element('section', { class: 'run' });
    const counts = element('p', { class: 'counts' });
    counts.append(this.#time, this.#passed, this.#failed, this.#waiting, this.#held);
    const head = element('div', { class: 'head' }, this.#name, counts, this.#facts);
    this.root.append(head, this.#tiles, this.finished.root);
    this.#held.addEventListener('click', () => actions.onEnlarge(id, this.#firstHeld));
  }

  update(run: Run, pictures: Pictures, now: number): void {
    this.#updateHead(run, now);
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
    this.#tiles.dataset.size = sizeOf(slots.length);
    this.finished.update(run);
  }

  #updateHead(run: Run, now: number): void {
    this.#time.dataset.run = run.endedAt === null ? 'running' : 'ended';
    setText(this.#name, run.name);
    setText(this.#time, runTime(run, now));
    setText(this.#passed, `${run.passed} passed`);
    setText(this.#failed, run.failed > 0 ? `${run.failed} failed` : '');
    const waiting = run.slots.filter(({ waitsFor }) => waitsFor !== null);
    setText(this.#waiting, waiting.length > 0 ? `${waiting.length} waiting for a browser` : '');
    const held = run.slots.filter(({ hold }) => hold !== null);
    this.#firstHeld = held[0]?.slot ?? 0;
    this.#held.hidden = held.length === 0;
    setText(this.#held, `${held.length} on hold`);
    setText(this.#facts, runFacts(run));
  }

  #newTile(slot: number): Tile {
    const tile = new Tile(this.id, slot, this.actions);
    this.actions.observer.observe(tile.root);
    return tile;
  }
}

function sizeOf(tiles: number): string {
  if (tiles === 1) return 'single';
  if (tiles === 2) return 'large';
  if (tiles <= 6) return 'medium';
  return tiles <= 12 ? 'small' : 'tiny';
}

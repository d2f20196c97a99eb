import { element } from '../../../common/page/dom.ts';
import type { TimelineData } from '../data.ts';
import type { Filter } from './lanes.ts';

const ZOOMS = [1, 2, 4, 8, 16, 32, 64];

/** The filters and the zoom. */
export class Controls {
  readonly root = element('div', { class: 'controls', role: 'group', 'aria-label': 'Filter and zoom' });
  readonly #status = element('output', { class: 'status' });
  readonly #project: HTMLSelectElement;
  readonly #shard: HTMLSelectElement;
  readonly #failures = element('input', { type: 'checkbox' });
  #zoomAt = 0;

  readonly #changed: () => void;

  constructor(data: TimelineData, changed: () => void) {
    this.#changed = changed;
    this.#project = chooser(data.projects.map((name) => name || 'the default project'));
    this.#shard = chooser(data.shards.map((name) => name || 'no shard'));
    if (data.projects.length > 1) this.root.append(element('label', {}, 'Project ', this.#project));
    if (data.shards.length > 1) this.root.append(element('label', {}, 'Shard ', this.#shard));
    this.root.append(element('label', {}, this.#failures, ' failures only'), this.#zoomer(), this.#status);
    for (const input of [this.#project, this.#shard, this.#failures]) input.addEventListener('change', changed);
  }

  get filter(): Filter {
    const chosen = ({ value }: HTMLSelectElement) => (value === '' ? null : Number(value));
    return { project: chosen(this.#project), shard: chosen(this.#shard), failuresOnly: this.#failures.checked };
  }

  get zoom(): number {
    return ZOOMS[this.#zoomAt] ?? 1;
  }

  /** Resets the filters. */
  clear(): void {
    this.#project.value = '';
    this.#shard.value = '';
    this.#failures.checked = false;
  }

  setStatus(text: string): void {
    this.#status.textContent = text;
  }

  #zoomer(): HTMLElement {
    const shown = element('span', {}, '1×');
    const button = (label: string, sign: string, by: number) => {
      const made = element('button', { type: 'button', 'aria-label': label }, sign);
      made.addEventListener('click', () => {
        this.#zoomAt = Math.min(ZOOMS.length - 1, Math.max(0, this.#zoomAt + by));
        shown.textContent = `${this.zoom}×`;
        this.#changed();
      });
      return made;
    };
    return element('span', { class: 'zoom' }, button('Zoom out', '−', -1), shown, button('Zoom in', '+', 1));
  }
}

function chooser(names: string[]): HTMLSelectElement {
  const options = names.map((name, n) => element('option', { value: String(n) }, name));
  return element('select', {}, element('option', { value: '' }, 'all'), options);
}

/** Keyboard navigation: one item of the chart is in the tab order, and arrow keys move to its neighbors. */
export class Roving {
  #lanes: HTMLElement[][] = [];
  #current: HTMLElement | null = null;

  constructor(chart: HTMLElement) {
    chart.addEventListener('focusin', ({ target }) => {
      if (target instanceof HTMLElement) this.#moveTo(target);
    });
    chart.addEventListener('keydown', (event) => {
      const next = this.#neighbour(event.key);
      if (next === undefined) return;
      event.preventDefault();
      next?.focus();
      next?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    });
  }

  /** @param lanes the items of each lane, in order of time */
  reset(lanes: HTMLElement[][]): void {
    this.#lanes = lanes.filter((items) => items.length > 0);
    this.#current = null;
    const first = this.#lanes[0]?.[0];
    if (first) this.#moveTo(first);
  }

  #moveTo(item: HTMLElement): void {
    if (!this.#lanes.some((items) => items.includes(item))) return;
    if (this.#current) this.#current.tabIndex = -1;
    item.tabIndex = 0;
    this.#current = item;
  }

  /** Undefined for other keys, null without a neighbor. */
  #neighbour(key: string): HTMLElement | null | undefined {
    const current = this.#current;
    const lanes = this.#lanes;
    if (!current) return undefined;
    const lane = lanes.findIndex((items) => items.includes(current));
    const items = lanes[lane] ?? [];
    const at = items.indexOf(current);
    if (key === 'ArrowRight') return items[at + 1] ?? null;
    if (key === 'ArrowLeft') return items[at - 1] ?? null;
    if (key === 'Home') return items[0] ?? null;
    if (key === 'End') return items.at(-1) ?? null;
    if (key === 'ArrowDown') return nearest(current, lanes[lane + 1]);
    if (key === 'ArrowUp') return nearest(current, lanes[lane - 1]);
    return undefined;
  }
}

function nearest(from: HTMLElement, items: HTMLElement[] | undefined): HTMLElement | null {
  const distance = (item: HTMLElement) => Math.abs(item.offsetLeft - from.offsetLeft);
  return items?.toSorted((a, b) => distance(a) - distance(b))[0] ?? null;
}

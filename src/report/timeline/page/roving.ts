/**
 * Keyboard navigation: one item of the chart is in the tab order, and arrow keys move to its neighbors. Returns a
 * function to call after the items have changed.
 */
export function rove(chart: HTMLElement): () => void {
  let current: HTMLElement | null = null;
  const moveTo = (item: HTMLElement | null) => {
    if (current) current.tabIndex = -1;
    if (item) item.tabIndex = 0;
    current = item;
  };
  chart.addEventListener('focusin', ({ target }) => {
    if (target instanceof HTMLElement && target.matches('.item')) moveTo(target);
  });
  chart.addEventListener('keydown', (event) => {
    const next = current && neighbor(event.key, current, chart);
    if (!current || next === undefined) return;
    event.preventDefault();
    next?.focus();
    next?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  });
  return () => moveTo(chart.querySelector<HTMLElement>('.item'));
}

/** Undefined for other keys, null without a neighbor. */
function neighbor(key: string, from: HTMLElement, chart: HTMLElement): HTMLElement | null | undefined {
  const itemsOf = (lane: Element) => [...lane.querySelectorAll<HTMLElement>('.item')];
  const lanes = [...chart.querySelectorAll('.lane')].map(itemsOf).filter(({ length }) => length > 0);
  const lane = lanes.findIndex((items) => items.includes(from));
  const items = lanes[lane] ?? [];
  const at = items.indexOf(from);
  if (key === 'ArrowRight') return items[at + 1] ?? null;
  if (key === 'ArrowLeft') return items[at - 1] ?? null;
  if (key === 'Home') return items[0] ?? null;
  if (key === 'End') return items.at(-1) ?? null;
  if (key === 'ArrowDown') return nearest(from, lanes[lane + 1]);
  if (key === 'ArrowUp') return nearest(from, lanes[lane - 1]);
  return undefined;
}

function nearest(from: HTMLElement, items: HTMLElement[] | undefined): HTMLElement | null {
  const distance = (item: HTMLElement) => Math.abs(item.offsetLeft - from.offsetLeft);
  return items?.toSorted((a, b) => distance(a) - distance(b))[0] ?? null;
}

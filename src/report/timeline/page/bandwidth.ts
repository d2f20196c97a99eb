import { largest } from '../../../common/numbers/extremes.ts';
import { bytes } from '../../summary/format.ts';
import type { TimelineData, TimelineTest } from '../data.ts';
import type { Lane } from './lanes.ts';

const COLUMNS = 240;
const SVG = 'http://www.w3.org/2000/svg';

/** The parts of the chart, from the bottom up. */
const PARTS: readonly { name: 'observed' | 'proxied'; bytesOf(test: TimelineTest): number | null }[] = [
  { name: 'observed', bytesOf: ([, , , , , , , , , , , observed]) => observed },
  { name: 'proxied', bytesOf: ([, , , , , , , , , , , , , , proxied]) => proxied },
];

interface Part {
  name: string;
  /** Bytes per second in each column. */
  rates: number[];
}

/** A test's bytes are spread evenly over its time, because their times are unknown. */
function ratesOf(lanes: Lane[], length: number, bytesOf: (test: TimelineTest) => number | null): number[] {
  const width = length / COLUMNS;
  const columns = new Array<number>(COLUMNS).fill(0);
  for (const test of lanes.flatMap(({ sessions }) => sessions.flatMap(({ tests }) => tests))) {
    const [, start, duration] = test;
    const moved = bytesOf(test);
    if (!moved) continue;
    const end = start + Math.max(duration, 1);
    const first = Math.min(COLUMNS - 1, Math.max(0, Math.floor(start / width)));
    for (let n = first; n < COLUMNS && n * width < end; n += 1) {
      const overlap = Math.min(end, (n + 1) * width) - Math.max(start, n * width);
      columns[n] = (columns[n] ?? 0) + (moved * overlap) / (end - start);
    }
  }
  return columns.map((moved) => (moved / width) * 1_000);
}

/** The bandwidth as a chart of stacked areas, with a text description. Parts without bytes are left out. */
export function bandwidthStrip(lanes: Lane[], data: TimelineData) {
  const parts = PARTS.map(({ name, bytesOf }): Part => ({ name, rates: ratesOf(lanes, data.length, bytesOf) })).filter(
    ({ rates }) => largest(rates) > 0,
  );
  const names = parts.map(({ name }) => name);
  const peak = largest(sumOf(parts));
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', `0 0 ${COLUMNS} 100`);
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('role', 'img');
  const words = `${names.join(' and ')} bandwidth, at most ${bytes(peak)} per second`;
  svg.setAttribute('aria-label', peak > 0 ? words : 'no bandwidth');
  // The tallest area first: each further one covers its lower part.
  for (let n = parts.length; n > 0; n -= 1) svg.append(area(sumOf(parts.slice(0, n)), peak, names[n - 1] ?? ''));
  const rateAt = ({ name, rates }: Part, ms: number) =>
    `${bytes(rates[Math.floor((ms / data.length) * COLUMNS)] ?? 0)}/s ${name}`;
  return { svg, peak, names, textAt: (ms: number) => parts.map((part) => rateAt(part, ms)).join(', ') };
}

function sumOf(parts: readonly Part[]): number[] {
  return Array.from({ length: COLUMNS }, (_, n) => parts.reduce((sum, { rates }) => sum + (rates[n] ?? 0), 0));
}

function area(rates: number[], peak: number, name: string): SVGPathElement {
  const path = document.createElementNS(SVG, 'path');
  const points = rates.map((rate, n) => {
    const y = (100 - (rate / peak) * 96).toFixed(1);
    return `L${n} ${y}L${n + 1} ${y}`;
  });
  path.setAttribute('class', name);
  path.setAttribute('d', `M0 100${points.join('')}L${COLUMNS} 100Z`);
  return path;
}

import { largest } from '../../../common/numbers/extremes.ts';
import { bytes } from '../../summary/format.ts';
import type { TimelineData } from '../data.ts';
import type { Lane } from './lanes.ts';

/** Number of columns of the chart. */
const COLUMNS = 240;
const SVG = 'http://www.w3.org/2000/svg';

/** Bytes per second in each column. A test's bytes are spread evenly over its time, because their times are unknown. */
function bandwidthOf(lanes: Lane[], length: number): number[] {
  const width = length / COLUMNS;
  const columns = new Array<number>(COLUMNS).fill(0);
  for (const test of lanes.flatMap(({ sessions }) => sessions.flatMap(({ tests }) => tests))) {
    const [, start, duration, , , , , , , , , moved] = test;
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

/** The bandwidth as a chart, with a text description. */
export function bandwidthStrip(lanes: Lane[], data: TimelineData) {
  const rates = bandwidthOf(lanes, data.length);
  const peak = largest(rates);
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', `0 0 ${COLUMNS} 100`);
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('role', 'img');
  const words = peak > 0 ? `observed bandwidth, at most ${bytes(peak)} per second` : 'no bandwidth was observed';
  svg.setAttribute('aria-label', words);
  const path = document.createElementNS(SVG, 'path');
  const points = rates.map((rate, n) => {
    const y = (100 - (peak > 0 ? (rate / peak) * 96 : 0)).toFixed(1);
    return `L${n} ${y}L${n + 1} ${y}`;
  });
  path.setAttribute('d', `M0 100${points.join('')}L${COLUMNS} 100Z`);
  svg.append(path);
  return { svg, peak, rateAt: (ms: number) => rates[Math.floor((ms / data.length) * COLUMNS)] ?? 0 };
}

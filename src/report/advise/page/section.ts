import { largest, smallest } from '../../../common/numbers/extremes.ts';
import { element } from '../../../common/page/dom.ts';
import { duration } from '../../summary/format.ts';
import type { TimelineAdvice, TimelineChoice } from '../../timeline/data.ts';
import { labelsOf, ticks } from '../../timeline/page/scale.ts';

/** The time of a run by number of browsers, as a chart and a table. */

const SVG = 'http://www.w3.org/2000/svg';
/** Width and height of the chart's coordinate system. */
const SIDE = 1_000;
/** Maximum number of lines of the time axis. */
const TIME_LINES = 5;

export function adviceSection(advice: TimelineAdvice): HTMLElement | null {
  if (advice.choices.length === 0) return null;
  const heading = element('h2', { id: 'advice' }, 'How many browsers?');
  const sentences = element(
    'ul',
    { class: 'advice-notes' },
    advice.sentences.map((text) => element('li', {}, text)),
  );
  return element(
    'section',
    { class: 'advice', 'aria-labelledby': 'advice' },
    heading,
    element('div', { class: 'tables' }, picture(advice), choiceTable(advice)),
    sentences,
  );
}

function picture(advice: TimelineAdvice): HTMLElement {
  const { choices, runs, boundMs, recommended } = advice;
  const numbers = [...choices, ...runs].map(({ browsers }) => browsers);
  const most = largest([...choices.map(({ p90Ms }) => p90Ms), ...runs.map(({ wallMs }) => wallMs)], 1);
  const marks = ticks(most, TIME_LINES);
  const top = Math.max(most, marks.at(-1) ?? 0) * 1.05;
  const [from, until] = [Math.log2(smallest(numbers)), Math.log2(largest(numbers))];
  // Logarithmic: doubling the browsers, which may halve the time, is the same distance everywhere.
  const x = (browsers: number) => (until > from ? (Math.log2(browsers) - from) / (until - from) : 0.5);
  const y = (ms: number) => 1 - ms / top;
  const plot = element('div', { class: 'plot', role: 'img', 'aria-label': inWords(advice) });
  const labels = labelsOf(marks);
  for (const [n, ms] of marks.entries())
    plot.append(placed('span', 'time-line', 0, y(ms), element('b', {}, labels[n] ?? '')));
  if (boundMs > 0) plot.append(placed('span', 'bound-line', 0, y(boundMs), null));
  plot.append(lines(choices, x, y));
  for (const [n, { browsers, medianMs, shards }] of choices.entries()) {
    const className = `dot${n === recommended ? ' chosen' : ''} series-${seriesOf(choices, shards)}`;
    plot.append(placed('i', className, x(browsers), y(medianMs), null));
  }
  for (const { browsers, wallMs } of runs) plot.append(placed('i', 'was', x(browsers), y(wallMs), null));
  for (const browsers of new Set(numbers))
    plot.append(placed('span', 'number', x(browsers), 1, element('b', {}, String(browsers))));
  return element('figure', {}, plot, legend(choices, boundMs > 0));
}

/** For each number of shards, a line of the medians, and a band up to the 90th percentile. */
function lines(choices: TimelineChoice[], x: (browsers: number) => number, y: (ms: number) => number): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', `0 0 ${SIDE} ${SIDE}`);
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('aria-hidden', 'true');
  for (const [n, shards] of shardNumbers(choices).entries()) {
    const own = choices.filter((choice) => choice.shards === shards).sort((a, b) => a.browsers - b.browsers);
    const point = (browsers: number, ms: number) => `${(x(browsers) * SIDE).toFixed(1)},${(y(ms) * SIDE).toFixed(1)}`;
    const medians = own.map(({ browsers, medianMs }) => point(browsers, medianMs));
    const p90s = own.map(({ browsers, p90Ms }) => point(browsers, p90Ms));
    svg.append(shape('polygon', `band series-${n}`, [...medians, ...p90s.reverse()]));
    svg.append(shape('polyline', `median series-${n}`, medians));
  }
  return svg;
}

function shape(name: 'polygon' | 'polyline', className: string, points: string[]): SVGElement {
  const made = document.createElementNS(SVG, name);
  made.setAttribute('class', className);
  made.setAttribute('points', points.join(' '));
  return made;
}

function placed(name: 'span' | 'i', className: string, x: number, y: number, child: Node | null): HTMLElement {
  const made = element(name, { class: className }, child);
  made.style.left = `${x * 100}%`;
  made.style.top = `${y * 100}%`;
  return made;
}

function shardNumbers(choices: TimelineChoice[]): number[] {
  return [...new Set(choices.map(({ shards }) => shards))];
}

function seriesOf(choices: TimelineChoice[], shards: number): number {
  return shardNumbers(choices).indexOf(shards);
}

function legend(choices: TimelineChoice[], isBound: boolean): HTMLElement {
  const list = element('ul', { class: 'legend' });
  const add = (className: string, word: string) =>
    list.append(element('li', {}, element('i', { class: `${className} sample`, 'aria-hidden': 'true' }), word));
  const numbers = shardNumbers(choices);
  for (const [n, shards] of numbers.entries()) {
    const name = shards === 1 && numbers.length === 1 ? 'expected' : shards === 1 ? 'one shard' : `${shards} shards`;
    add(`dot series-${n}`, `${name} (median, and up to 9 of 10 runs)`);
  }
  add('dot chosen', 'recommended');
  add('was', 'past run');
  if (isBound) add('bound-line', 'the longest file or test alone');
  return element('figcaption', {}, 'time by number of browsers at the same time', list);
}

function choiceTable({ choices, recommended }: TimelineAdvice): HTMLElement {
  const sharded = choices.some(({ shards }) => shards > 1);
  const priced = choices.some(({ cost }) => cost !== null);
  const columns = [
    'browsers',
    ...(sharded ? ['shards'] : []),
    'median',
    '9 of 10',
    'browser-minutes',
    ...(priced ? ['cost'] : []),
  ];
  const head = element(
    'tr',
    {},
    columns.map((name) => element('th', { scope: 'col' }, name)),
  );
  const body = element('tbody');
  for (const [n, { browsers, shards, medianMs, p90Ms, browserMs, cost }] of choices.entries()) {
    const cells = [
      n === recommended ? `${browsers} (recommended)` : String(browsers),
      ...(sharded ? [String(shards)] : []),
      duration(medianMs),
      duration(p90Ms),
      (browserMs / 60_000).toFixed(1),
      ...(priced ? [cost === null ? '' : cost.toPrecision(3)] : []),
    ];
    const className = n === recommended ? 'chosen' : null;
    body.append(
      element(
        'tr',
        { class: className },
        cells.map((text) => element('td', {}, text)),
      ),
    );
  }
  const caption = element('caption', {}, 'Expected, by simulation');
  return element('table', { class: 'choices' }, caption, element('thead', {}, head), body);
}

function inWords({ choices, recommended }: TimelineAdvice): string {
  const said = choices.map(({ browsers, medianMs }) => `${browsers}: ${duration(medianMs)}`).join(', ');
  const chosen = choices[recommended];
  return `expected time by number of browsers: ${said}${chosen ? `; recommended: ${chosen.browsers}` : ''}`;
}

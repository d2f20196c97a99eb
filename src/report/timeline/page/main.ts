import { descriptions, element } from '../../../common/page/dom.ts';
import type { TimelineData, TimelineNamed } from '../data.ts';
import { Chart } from './chart.ts';
import { Controls } from './controls.ts';
import { LOOKS, type Look, tallyOf } from './look.ts';

/** Draws the timeline from the data in the page. */

const PROBLEMS_SHOWN = 5;
/** Least width of a figure and the gap between two, in px. */
const FIGURE_WIDTH = 230;
const FIGURE_GAP = 8;

const main = document.getElementById('timeline');
const source = document.getElementById('data');
if (main && source) show(main, JSON.parse(source.textContent ?? ''));

function show(root: HTMLElement, data: TimelineData): void {
  const chart = new Chart(data);
  const controls = new Controls(data, () => draw());
  const figures = descriptions(
    data.figures.map(({ label, value }): [string, string] => [label, value]),
    'figures',
  );
  const draw = () => {
    figures.style.setProperty('--columns', String(columnsFor(data.figures.length, figures.clientWidth)));
    const { sessions, tests } = chart.draw(controls.filter, controls.zoom);
    controls.setStatus(`${sessions} of ${data.sessions.length} browsers, ${tests} of ${data.tests.length} tests`);
  };
  const reveal = (named: TimelineNamed) => {
    const test = data.tests[named.test];
    if (!test || chart.reveal(test)) return;
    controls.clear();
    draw();
    chart.reveal(test);
  };
  root.replaceChildren(
    element('h1', {}, 'poolwright timeline'),
    facts(data),
    element('p', { class: 'tally' }, tallyOf(data)),
    figures,
    problems(data),
    element('h2', {}, 'Browsers and tests'),
    controls.root,
    legend(),
    element('div', { class: 'scroll' }, chart.root),
    element(
      'div',
      { class: 'tables' },
      table('Slowest tests', 'time', data.slowest, data, reveal),
      table('Heaviest tests', 'bytes', data.heaviest, data, reveal),
    ),
  );
  draw();
  let resized = 0;
  let { clientWidth } = root;
  window.addEventListener('resize', () => {
    // Bars depend only on the width. The height also changes when a phone hides its address bar.
    if (root.clientWidth === clientWidth) return;
    clientWidth = root.clientWidth;
    cancelAnimationFrame(resized);
    resized = requestAnimationFrame(draw);
  });
}

/** The number of columns that fills the rows most evenly, so that no figure stands alone if that can be avoided. */
function columnsFor(count: number, width: number): number {
  const most = Math.max(1, Math.floor((width + FIGURE_GAP) / (FIGURE_WIDTH + FIGURE_GAP)));
  return Math.max(1, Math.ceil(count / Math.ceil(count / most)));
}

function facts({ runIds, service, from, shards }: TimelineData): HTMLElement {
  const runs = runIds.filter((id) => id !== '');
  const said = [
    runs.length > 0 ? `Run ${runs.join(', ')}` : null,
    service === 'emulator' ? 'on the emulator' : service,
    shards.length > 1 ? `${shards.length} shards` : null,
    `began ${new Date(from).toLocaleString()}`,
  ];
  return element('p', { class: 'facts' }, said.flatMap((part) => part ?? []).join(' · '));
}

/** Shows the first problems. The others are collapsed. */
function problems({ problems: list }: TimelineData): HTMLElement {
  const shown = element('section', { class: 'problems', 'aria-label': 'Problems' });
  const items = (some: string[]) =>
    element(
      'ul',
      {},
      some.map((problem) => element('li', {}, problem)),
    );
  shown.append(items(list.slice(0, PROBLEMS_SHOWN)));
  const others = list.slice(PROBLEMS_SHOWN);
  if (others.length > 0) {
    shown.append(element('details', {}, element('summary', {}, `and ${others.length} more`), items(others)));
  }
  shown.hidden = list.length === 0;
  return shown;
}

function table(
  title: string,
  unit: string,
  rows: TimelineNamed[],
  data: TimelineData,
  reveal: (named: TimelineNamed) => void,
): HTMLElement {
  const body = element('tbody');
  for (const named of rows) {
    const test = data.tests[named.test];
    if (!test) continue;
    const [, , , , , retry, project, , , name] = test;
    const button = element('button', { type: 'button', class: 'link' }, name);
    button.addEventListener('click', () => reveal(named));
    const more = [data.projects[project] ?? '', retry > 0 ? `retry ${retry}` : ''].filter((part) => part !== '');
    body.append(
      element(
        'tr',
        {},
        element('td', {}, button, more.length > 0 ? ` ${more.join(', ')}` : null),
        element('td', {}, named.value),
      ),
    );
  }
  const head = element('tr', {}, element('th', { scope: 'col' }, 'test'), element('th', { scope: 'col' }, unit));
  const made = element('table', {}, element('caption', {}, title), element('thead', {}, head), body);
  made.hidden = rows.length === 0;
  return made;
}

/** Explains the symbols. */
function legend(): HTMLElement {
  const list = element('ul', { class: 'legend', 'aria-label': 'Legend' });
  const add = (className: string, mark: string, word: string) => {
    const sample = element('span', { class: `sample ${className}`, 'aria-hidden': 'true' });
    if (mark !== '') sample.append(element('b', {}, mark));
    list.append(element('li', {}, sample, word));
  };
  for (const look of Object.keys(LOOKS) as Look[]) add(`test ${look}`, LOOKS[look].mark, LOOKS[look].word);
  add('test passed retry', '', 'retry');
  add('session', '', 'browser, idle');
  add('start', '', 'browser starts');
  add('wait', '', 'worker waits');
  add('end-mark', '✕', 'ended with an error');
  add('end-mark', '↻', 'replaced in time');
  return list;
}

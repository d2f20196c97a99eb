import { element } from '../../../common/page/dom.ts';
import { bytes } from '../../summary/format.ts';
import type { TimelineData, TimelineTest } from '../data.ts';
import { bandwidthStrip } from './bandwidth.ts';
import { sessionDetails, Tip, testDetails } from './details.ts';
import { beginOf, type Filter, type Lane, lanesOf, type ShownSession } from './lanes.ts';
import { endMark, LOOKS, lookOf, resultOf } from './look.ts';
import { rove } from './roving.ts';
import { clock, labelsOf, ticks } from './scale.ts';

/** Height of a session's row, in px, as in the style sheet. */
const ROW = 28;
/** In px: distance between ticks, width of a tick's label, and minimum widths of a bar for its mark and its title. */
const TICK_WIDTH = 70;
const LABEL_WIDTH = 40;
const MARK_WIDTH = 11;
const TITLE_WIDTH = 46;

/** The chart of sessions and tests, with one lane per worker slot. */
export class Chart {
  readonly root = element('div', { class: 'chart' });
  readonly #details = new Map<Element, () => DocumentFragment>();
  readonly #bars = new Map<TimelineTest, HTMLElement>();
  readonly #tip = new Tip();
  readonly #startRoving = rove(this.root);
  #trackWidth = 0;
  readonly #data: TimelineData;

  constructor(data: TimelineData) {
    this.#data = data;
    this.root.addEventListener('pointerover', (event) => this.#point(event.target, event.clientX));
    this.root.addEventListener('focusin', ({ target }) => this.#point(target, null));
    for (const type of ['pointerout', 'focusout']) this.root.addEventListener(type, () => this.#tip.hide());
  }

  /** Draws what the filter selects. Returns how much that is. */
  draw(filter: Filter, zoom: number): { sessions: number; tests: number } {
    const { root } = this;
    const data = this.#data;
    const lanes = lanesOf(data, filter);
    this.#details.clear();
    this.#bars.clear();
    root.style.setProperty('--zoom', String(zoom));
    const probe = element('div', { class: 'track' });
    root.replaceChildren(row('axis', 'time', probe));
    this.#trackWidth = probe.clientWidth;
    const marks = ticks(data.length, Math.max(2, Math.floor(this.#trackWidth / TICK_WIDTH)));
    const drawn = lanes.map((lane) => this.#lane(lane));
    const lines = element(
      'div',
      { class: 'lines', 'aria-hidden': 'true' },
      marks.map((ms) => this.#at('i', ms)),
    );
    root.replaceChildren(this.#axis(marks), this.#strip(lanes), lines);
    for (const group of drawn) root.append(group);
    this.#startRoving();
    const sessions = lanes.flatMap((lane) => lane.sessions);
    return { sessions: sessions.length, tests: sessions.reduce((sum, { tests }) => sum + tests.length, 0) };
  }

  /** Scrolls to a test and focuses it. Returns false if it is not drawn. */
  reveal(test: TimelineTest): boolean {
    const bar = this.#bars.get(test);
    bar?.scrollIntoView({ block: 'center', inline: 'center' });
    bar?.focus();
    return bar !== undefined;
  }

  #point(target: EventTarget | null, x: number | null): void {
    const item = target instanceof Element ? target.closest('.item') : null;
    const details = item && this.#details.get(item);
    if (details) this.#tip.show(item, details(), x);
  }

  #axis(marks: number[]): HTMLElement {
    const track = element('div', { class: 'track' });
    const labels = labelsOf(marks);
    for (const [n, ms] of marks.entries()) {
      const tick = this.#at('span', ms);
      const room = (1 - ms / this.#data.length) * this.#trackWidth;
      if (room >= LABEL_WIDTH) tick.append(labels[n] ?? '');
      track.append(tick);
    }
    return row('axis', 'time', track);
  }

  #strip(lanes: Lane[]): HTMLElement {
    const data = this.#data;
    const tip = this.#tip;
    const { svg, peak, names, textAt } = bandwidthStrip(lanes, data);
    const track = element('div', { class: 'track' }, svg);
    track.addEventListener('pointermove', ({ clientX }) => {
      const { left, width } = track.getBoundingClientRect();
      const ms = ((clientX - left) / width) * data.length;
      const text = `${clock(Math.round(ms / 1_000) * 1_000)}: ${textAt(ms) || 'no bandwidth'}`;
      tip.show(track, document.createTextNode(text), clientX);
    });
    const key = names.flatMap((name) => [element('i', { class: name }), name, element('br')]);
    const most = peak > 0 ? `≤ ${bytes(peak)}/s` : 'no bandwidth';
    return row('strip', element('span', {}, key, most), track);
  }

  #lane(lane: Lane): HTMLElement {
    const shard = this.#data.shards[lane.shard] ?? '';
    const track = element('div', { class: 'track' });
    track.style.height = `${lane.rows * ROW}px`;
    for (const part of lane.sessions.flatMap((shown) => this.#session(shown))) track.append(part);
    const name = shard === '' ? `slot ${lane.slot}` : `shard ${shard}, slot ${lane.slot}`;
    const short = shard === '' ? name : `${shard} · slot ${lane.slot}`;
    const group = row('lane', short, track);
    group.setAttribute('role', 'group');
    group.setAttribute('aria-label', name);
    return group;
  }

  /** The parts of a session, in the order of the keyboard. */
  #session({ session, tests, row: below }: ShownSession): HTMLElement[] {
    const end = session.ending ?? session.ended;
    const parts: HTMLElement[] = [];
    const add = (part: HTMLElement) => {
      part.style.top = `${below * ROW}px`;
      parts.push(part);
      return part;
    };
    if (session.asked !== null && session.asked < session.had)
      add(this.#bar('span', 'start', session.asked, session.had));
    if (session.lent !== null && (session.waitMs ?? 0) > 0)
      add(this.#bar('span', 'wait', beginOf({ ...session, asked: null, had: session.lent }), session.lent));
    const bar = add(this.#bar('button', 'item session', session.had, end));
    bar.setAttribute('type', 'button');
    bar.setAttribute('aria-label', `session ${session.id}, ${tests.length} tests, ended: ${session.reason}`);
    this.#details.set(bar, () => sessionDetails(session, tests.length, this.#data));
    if (session.ended > end) add(this.#bar('span', 'ending', end, session.ended));
    const mark = endMark(session.reason);
    if (mark !== '') {
      const sign = add(this.#at('span', end));
      sign.className = 'end-mark';
      sign.setAttribute('aria-hidden', 'true');
      sign.append(mark);
    }
    for (const test of tests) add(this.#test(test, session.had));
    return parts;
  }

  /** A worker's first test begins before its browser is ready. Its bar begins with the browser. */
  #test(test: TimelineTest, had: number): HTMLElement {
    const [, start, took, , , retry, , , , title] = test;
    const end = Math.max(start + took, had);
    const look = lookOf(test, this.#data);
    const address = this.#addressOf(test);
    const kind = `item test ${look}${retry > 0 ? ' retry' : ''}`;
    const bar = this.#bar(address === null ? 'button' : 'a', kind, Math.max(start, had), end);
    if (bar instanceof HTMLAnchorElement) bar.href = address ?? '';
    else bar.setAttribute('type', 'button');
    bar.setAttribute('aria-label', `${title}: ${resultOf(test, this.#data)}${retry > 0 ? `, retry ${retry}` : ''}`);
    const width = ((end - Math.max(start, had)) / this.#data.length) * this.#trackWidth;
    const { mark } = LOOKS[look];
    if (width >= MARK_WIDTH && mark !== '') bar.append(element('b', {}, mark));
    if (width >= TITLE_WIDTH && retry > 0) bar.append(element('b', {}, `retry ${retry}`));
    if (width >= TITLE_WIDTH) bar.append(title.split(' › ').at(-1) ?? title);
    this.#details.set(bar, () => testDetails(test, this.#data));
    this.#bars.set(test, bar);
    return bar;
  }

  /** In the HTML report, which has its attachments; else the directory of its evidence. */
  #addressOf([, , , , , retry, , , , , id, , , , , , evidence]: TimelineTest): string | null {
    const { report } = this.#data;
    if (report === null) return evidence;
    return `${report}#?testId=${encodeURIComponent(wellFormed(id))}${retry > 0 ? `&run=${retry}` : ''}`;
  }

  #bar(name: 'span' | 'button' | 'a', className: string, from: number, to: number): HTMLElement {
    const made = this.#at(name, from);
    if (name !== 'span') made.tabIndex = -1;
    made.className = className;
    made.style.width = `${((to - from) / this.#data.length) * 100}%`;
    return made;
  }

  #at(name: 'span' | 'i' | 'button' | 'a', ms: number): HTMLElement {
    const made = element(name);
    made.style.left = `${(ms / this.#data.length) * 100}%`;
    return made;
  }
}

/** Replaces unpaired surrogates, which cannot be encoded in a URL. */
function wellFormed(text: string): string {
  return text.replace(/\p{Cs}/gu, '\ufffd');
}

function row(className: string, label: Node | string, track: HTMLElement): HTMLElement {
  return element('div', { class: `row ${className}` }, element('div', { class: 'label' }, label), track);
}

import { descriptions, element } from '../../../common/page/dom.ts';
import { bytes, duration } from '../../summary/format.ts';
import type { TimelineData, TimelineSession, TimelineTest } from '../data.ts';
import { resultOf } from './look.ts';
import { clock } from './scale.ts';

/** All details of a test or a session. */

/** Null: left out. */
type Row = [label: string, value: string | null];

export function testDetails(test: TimelineTest, data: TimelineData): DocumentFragment {
  const [session, start, took, , , retry, project, file, line, title, , observed, lost, held, proxied, sent, evidence] =
    test;
  const rows: Row[] = [
    ['Result', resultOf(test, data)],
    ['Retry', retry > 0 ? String(retry) : null],
    ['Project', data.projects[project] || null],
    ['File', `${data.files[file] ?? ''}${line > 0 ? `:${line}` : ''}`],
    ['Began', clock(Math.round(start / 1_000) * 1_000)],
    ['Took', duration(took)],
    ...withProxied([['Observed', observed === null ? null : bytes(observed)]], observed ?? 0, proxied, sent),
    ['On hold', held],
    ['Browser lost', lost],
    ['Session', data.sessions[session]?.id ?? null],
    ['Evidence', evidence === null || data.report !== null ? null : 'a click opens it'],
  ];
  return fragment(title, rows);
}

export function sessionDetails(session: TimelineSession, tests: number, data: TimelineData): DocumentFragment {
  const { service, observed, proxied } = session;
  const direct: Row[] = [
    ['Service', service === null ? 'no figure' : bytes(service)],
    ['Observed', bytes(observed)],
  ];
  const rows: Row[] = [
    ['Kind', session.type],
    ['From', session.pool === null ? 'created' : `pool ${session.pool}`],
    ['Lease', session.lease],
    ['Served by', session.servedBy],
    ['Project', data.projects[session.project] || null],
    ['Start took', session.asked === null ? null : duration(session.had - session.asked)],
    ['Worker waited', session.waitMs === null ? null : duration(session.waitMs)],
    ['Lived', duration((session.ending ?? session.ended) - session.had)],
    ['Tests', String(tests)],
    ['Workers', String(session.workers)],
    ['Ended', `${session.reason}${session.confirmed === false ? ', NOT CONFIRMED' : ''}`],
    ...withProxied(direct, Math.max(service ?? 0, observed), proxied, null),
    ...session.failures.map((failure): Row => ['Browser lost', failure]),
  ];
  return fragment(`Session ${session.id}`, rows);
}

/** Adds the proxied bytes to the other figures: before them if they are more. */
function withProxied(direct: Row[], most: number, proxied: number | null, sent: number | null): Row[] {
  if (!proxied) return direct;
  const row: Row = ['Proxied', `${bytes(proxied)}${sent === null ? '' : `, ${bytes(sent)} of them sent`}`];
  return proxied > most ? [row, ...direct] : [...direct, row];
}

function fragment(title: string, rows: Row[]): DocumentFragment {
  const made = document.createDocumentFragment();
  made.append(element('strong', {}, title), descriptions(rows, 'details'));
  return made;
}

/** Distance between an item and its details, in px. */
const GAP = 8;

/** The tooltip with details of the hovered or focused item. */
export class Tip {
  readonly #box = element('div', { id: 'tip', role: 'tooltip', hidden: '' });

  constructor() {
    document.body.append(this.#box);
    document.addEventListener('keydown', ({ key }) => {
      if (key === 'Escape') this.hide();
    });
  }

  /** @param x position of the pointer in px; null: at the start of the item */
  show(item: Element, details: Node, x: number | null): void {
    const box = this.#box;
    box.replaceChildren(details);
    box.hidden = false;
    const at = item.getBoundingClientRect();
    const { width, height } = box.getBoundingClientRect();
    const left = Math.min((x ?? Math.max(at.left, 0)) + GAP, document.documentElement.clientWidth - width - GAP);
    const below = at.bottom + GAP;
    const fits = below + height <= document.documentElement.clientHeight - GAP;
    box.style.left = `${Math.max(GAP, left)}px`;
    box.style.top = `${fits ? below : Math.max(GAP, at.top - height - GAP)}px`;
  }

  hide(): void {
    this.#box.hidden = true;
  }
}

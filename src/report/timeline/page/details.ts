import { descriptions, element } from '../../../common/page/dom.ts';
import { bytes, duration } from '../../summary/format.ts';
import type { TimelineData, TimelineSession, TimelineTest } from '../data.ts';
import { resultOf } from './look.ts';
import { clock } from './scale.ts';

/** All details of a test or a session. */

export function testDetails(test: TimelineTest, data: TimelineData): DocumentFragment {
  const [session, start, took, , , retry, project, file, line, title, , moved, lost, held, evidence] = test;
  const rows: [string, string | null][] = [
    ['Result', resultOf(test, data)],
    ['Retry', retry > 0 ? String(retry) : null],
    ['Project', data.projects[project] || null],
    ['File', `${data.files[file] ?? ''}${line > 0 ? `:${line}` : ''}`],
    ['Began', clock(Math.round(start / 1_000) * 1_000)],
    ['Took', duration(took)],
    ['Observed', moved === null ? null : bytes(moved)],
    ['On hold', held],
    ['Browser lost', lost],
    ['Session', data.sessions[session]?.id ?? null],
    ['Evidence', evidence === null || data.report !== null ? null : 'a click opens it'],
  ];
  return fragment(title, rows);
}

export function sessionDetails(session: TimelineSession, tests: number, data: TimelineData): DocumentFragment {
  const rows: [string, string | null][] = [
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
    ['Service', session.service === null ? 'no figure' : bytes(session.service)],
    ['Observed', bytes(session.observed)],
    ['Through exposeNetwork', session.bridged > 0 ? bytes(session.bridged) : null],
    ...session.failures.map((failure): [string, string] => ['Browser lost', failure]),
  ];
  return fragment(`Session ${session.id}`, rows);
}

function fragment(title: string, rows: [string, string | null][]): DocumentFragment {
  const made = document.createDocumentFragment();
  made.append(element('strong', {}, title), descriptions(rows, 'details'));
  return made;
}

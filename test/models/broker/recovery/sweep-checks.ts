import { parseNote } from '../../../../src/broker/browsers/session-note.ts';
import type { LedgerContent } from '../../../../src/broker/ledger/ledger-file.ts';
import type { SweepResult } from '../../../../src/broker/recovery/sweep.ts';
import type { ScriptedSession, ScriptedWorkspace } from '../../../support/unit/broker/scripted-workspace.ts';
import { type Eyes, notedSessions, unknownRequests } from './sweep-rules.ts';

/** Checks that must hold after every sweep. They throw if they do not. */

/** A broker whose things a sweep may touch. */
interface Touchable {
  run: { mark: string };
  held: readonly { session: ScriptedSession }[];
  pools: readonly string[];
}

/** Beats use the service's clock, whatever the clock of the machine that wrote them. */
export function checkClocks({ ledgers, sessions, time }: Eyes, begun: number): void {
  const beats = [
    ...[...ledgers.values()].map(({ beatAt }) => Date.parse(beatAt)),
    ...sessions.flatMap(({ note }) => parseNote(note)?.beat.getTime() ?? []),
  ].filter((beat) => beat !== 0); // of foreign things
  const wrong = beats.filter((beat) => beat > time || beat < begun);
  if (wrong.length > 0) throw new Error(`by another clock: ${wrong.map((beat) => new Date(beat).toISOString())}`);
}

/** Only things of touchable brokers are gone. */
export function checkTouched(
  before: { running: readonly ScriptedSession[]; pools: readonly string[] },
  after: ScriptedWorkspace,
  touchable: readonly Touchable[],
): void {
  const pools = new Set(after.pools.map(({ name }) => name));
  const gone = [
    ...before.running.filter(
      (session) => !session.running && !touchable.some(({ held }) => held.some((each) => each.session === session)),
    ),
    ...before.pools.filter((name) => !pools.has(name) && !touchable.some((broker) => broker.pools.includes(name))),
  ];
  if (gone.length > 0) throw new Error(`was touched: ${JSON.stringify(gone)}`);
}

/** A ledger stays as long as its broker may be alive, or something that it names is running. */
export function checkLedgers(
  { ledgers: before, listed, lists }: Eyes,
  after: ReadonlyMap<string, LedgerContent>,
  workspace: ScriptedWorkspace,
  touchable: readonly Touchable[],
): void {
  const running = new Set(workspace.running);
  const pools = new Set(workspace.pools.map(({ name }) => name));
  for (const [mark, ledger] of before) {
    if (after.has(mark)) continue;
    if (!touchable.some(({ run }) => run.mark === mark)) throw new Error(`the ledger of ${mark} is gone`);
    const left = [
      ...ledger.entries.filter(({ sessionId }) => sessionId !== null && running.has(sessionId)),
      ...ledger.pools.filter((name) => pools.has(name)),
      ...(listed ? notedSessions(mark, { lists, sessions: workspace.sessions }) : []),
    ];
    if (left.length > 0) throw new Error(`the ledger of ${mark} is gone, and not this: ${JSON.stringify(left)}`);
  }
}

/** A ledger that names a browser of which nothing is known stays, and the result reports it. */
export function checkUnknown(eyes: Eyes, after: ReadonlyMap<string, LedgerContent>, result: SweepResult): void {
  for (const [mark, ledger] of eyes.ledgers) {
    const unknown = unknownRequests(ledger, eyes);
    if (!after.has(mark) && unknown.length > 0)
      throw new Error(`the ledger of ${mark} is gone, and ${unknown} unknown`);
    const said = result.unknownBrowsers.filter(
      ({ runId, request }) => runId === ledger.runId && unknown.includes(request),
    );
    const isSwept = result.unknownBrowsers.some(({ request }) => request.startsWith(`${mark}-`));
    if (isSwept && said.length < unknown.length) throw new Error(`not all is reported: ${JSON.stringify(result)}`);
  }
}

/** Everything that a sweep had to end has ended. */
export function checkGone(
  due: { seen: readonly ScriptedSession[]; pools: readonly string[] },
  workspace: ScriptedWorkspace,
  result: SweepResult,
): void {
  if (result.failures.length > 0) throw new Error(`nothing was in its way: ${result.failures.join('; ')}`);
  const left = [
    ...due.seen.filter(({ running }) => running),
    ...workspace.pools.filter(({ name }) => due.pools.includes(name)),
  ];
  if (left.length > 0) throw new Error(`left: ${JSON.stringify(left)}; ${JSON.stringify(result)}`);
}

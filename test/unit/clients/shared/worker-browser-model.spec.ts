import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import { WorkerBrowser } from '../../../../src/clients/shared/worker-browser.ts';
import type { LeasePlan } from '../../../../src/options/schema/plan.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { before, ScriptedParts, type Session } from './worker-parts.ts';

/**
 * A worker's browser in thousands of histories: tests that begin, share contexts, open several at once and are
 * abandoned; leases that succeed, fail or are late; connections that break, fall silent or age; a worker that is idle
 * while others wait, and one that ends at any time.
 */

const newest = fc.boolean();
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('test' as const), leavesOpen: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('contexts' as const), count: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('grant' as const), newest, short: rarely() }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('open' as const), newest, outcome: outcomes() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('refuse' as const), newest }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('disturb' as const),
      newest,
      what: fc.constantFrom('lose' as const, 'silence' as const, 'hang' as const, 'age' as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('answer' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('idle' as const), wanted: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('close' as const) }) },
);
const history = fc.record({
  reuse: fc.constantFrom('run' as const, 'worker' as const, 'test' as const),
  slow: fc.boolean(),
  /** Which browsers arrive and connect without a step. With `none`, few histories get far. */
  comes: fc.constantFrom('none' as const, 'needed' as const, 'all' as const),
  /** Each step, and whether everything possible happens before the next one. */
  steps: fc.array(fc.tuple(step, fc.boolean()), { maxLength: 40 }),
});

function rarely() {
  return fc.integer({ min: 0, max: 5 }).map((n) => n === 0);
}

function outcomes() {
  return fc.constantFrom('up' as const, 'up' as const, 'unreachable' as const, 'broken' as const);
}

/** One worker, and its invariants. */
class Worker {
  readonly parts: ScriptedParts;
  readonly hosted: WorkerBrowser;
  private testNumber = 0;
  /** Whether the next test shares the contexts of this one. */
  private leavesOpen = false;
  private waiting = 0;
  private browsersOfTest = new Set<Session>();
  /** A browser that was about to end when the current test began. */
  private endsSoon: Session | null = null;
  private closed: Promise<void> | null = null;
  private isClosed = false;

  constructor(
    private readonly reuse: LeasePlan['reuse'],
    slow: boolean,
  ) {
    this.parts = new ScriptedParts(reuse, slow);
    const { broker, connect, isInUse, clock } = this.parts;
    this.hosted = new WorkerBrowser({
      ...{ broker, connect, isInUse, clock, reuse, project: { id: 'p', name: 'p' }, parallelIndex: 0, features: {} },
      testTimeout: 30_000,
    });
    this.wait(this.hosted.start(), () => undefined);
  }

  /** Playwright closes a test's contexts, then the next one begins. */
  beginTest(leavesOpen: boolean): void {
    const present = this.currentSession();
    this.closeContexts();
    this.leavesOpen = leavesOpen;
    if (present && present.open > 0) {
      this.hosted.beginSharing();
      return;
    }
    this.testNumber += 1;
    this.browsersOfTest = new Set();
    this.endsSoon = present && present.shortSince !== null ? present : null;
    this.hosted.beginTest(30_000);
  }

  /** Between tests: long enough for the worker to notice that it is idle. Then a hook may open contexts. */
  async idle(wanted: boolean): Promise<void> {
    const { parts } = this;
    this.closeContexts();
    this.browsersOfTest = new Set();
    this.hosted.endTest(false);
    parts.wanted = wanted;
    await parts.clock.advance(1_000);
    await parts.settle();
  }

  openContexts(count: number): void {
    for (let n = 0; n < count; n += 1) {
      const test = this.testNumber;
      this.wait(this.hosted.connected(30_000), (connection) => {
        const session = this.parts.sessions.find(({ lease }) => lease === connection.lease);
        if (session) this.opened(session, test);
      });
    }
  }

  close(): void {
    if (this.closed) return;
    this.parts.closing = true;
    this.closed = this.hosted.close();
    this.closed.then(
      () => {
        this.isClosed = true;
      },
      (error) => this.parts.faults.push(`close() rejects: ${error}`),
    );
  }

  /** Called when nothing more happens without a step. */
  check(): void {
    const { parts, waiting } = this;
    const canCome =
      parts.requests.some(({ prefetch }) => !prefetch) || parts.openings.length > 0 || parts.late.length > 0;
    parts.expect(waiting === 0 || canCome, `${waiting} wait for nothing`);
    const asked = parts.requests.filter(({ prefetch }) => prefetch).length;
    parts.expect(asked <= 1 && parts.requests.length - asked <= 1, `${parts.requests.length} requests at once`);
    if (parts.late.length > 0) return;
    const had = parts.sessions.filter(({ returned }) => returned.length === 0);
    parts.expect(parts.isConnectionClosed || had.length <= 2, `${had.length} browsers are held`);
  }

  /** The worker ends. The broker only responds to pending requests. */
  async end(): Promise<void> {
    const { parts } = this;
    this.close();
    for (let round = 0; round < 50 && !this.isClosed; round += 1) {
      await parts.settle();
      for (const answer of parts.late.splice(0)) answer();
      parts.open(false, round % 2 === 0 ? 'up' : 'unreachable');
    }
    await parts.settle();
    parts.expect(this.isClosed, 'close() does not end');
    parts.expect(this.waiting === 0, `${this.waiting} wait on after close()`);
    parts.expect(parts.isConnectionClosed, 'the connection to the broker is open');
    for (const { lease, returned } of parts.sessions) {
      parts.expect(returned.length === 1, `${lease.sessionId} is given back ${returned.length} times (${returned})`);
    }
  }

  private closeContexts(): void {
    if (!this.leavesOpen) for (const session of this.parts.sessions) session.open = 0;
  }

  private currentSession(): Session | undefined {
    return this.parts.sessions.find(({ lease }) => lease === this.hosted.current?.lease);
  }

  private opened(session: Session, test: number): void {
    const { parts } = this;
    const { sessionId } = session.lease;
    parts.expect(
      test === this.testNumber,
      `a context of test ${test} opens on ${sessionId} in test ${this.testNumber}`,
    );
    const isLost = session.lostIn === parts.epoch;
    parts.expect(isLost || session.returned.length === 0, `a context opens on ${sessionId}, which was given back`);
    const wasLost = before(session.lostIn, parts.epoch);
    parts.expect(!wasLost, `a context opens on ${sessionId}, which was lost`);
    const wasShort = before(session.shortSince, parts.epoch);
    if (session.prefetch && session.users.size === 0)
      parts.expect(!wasShort, `${sessionId}, prefetched, is about to end`);
    parts.expect(session !== this.endsSoon, `a test begins on ${sessionId}, which is about to end`);
    session.users.add(test);
    if (session.lostIn === null) session.open += 1;
    if (this.reuse === 'test') {
      parts.expect(session.users.size === 1, `tests ${[...session.users]} share ${sessionId}`);
    }
    this.browsersOfTest.add(session);
    const up = [...this.browsersOfTest].filter(({ lostIn }) => lostIn === null);
    parts.expect(up.length <= 1, `test ${test} is on ${up.length} browsers`);
  }

  private wait<T>(promise: Promise<T>, then: (value: T) => void): void {
    this.waiting += 1;
    promise
      .then(then, () => undefined)
      .finally(() => {
        this.waiting -= 1;
      });
  }
}

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function take(worker: Worker, step: Exclude<Step, { do: 'idle' }>): void {
  const { parts } = worker;
  if (step.do === 'test') worker.beginTest(step.leavesOpen);
  else if (step.do === 'contexts') worker.openContexts(step.count);
  else if (step.do === 'grant') parts.grant(step.newest, step.short);
  else if (step.do === 'open') parts.open(step.newest, step.outcome);
  else if (step.do === 'refuse') parts.refuse(step.newest);
  else if (step.do === 'disturb') parts.disturb(step.newest, step.what);
  else if (step.do === 'answer') parts.late.shift()?.();
  else worker.close();
}

test('uses one browser per test, gives each back once and never waits forever, in any history', async () => {
  const property = fc.asyncProperty(history, async ({ reuse, slow, comes, steps }) => {
    const worker = new Worker(reuse, slow);
    for (const [step, settles] of steps) {
      if (step.do === 'idle') await worker.idle(step.wanted);
      else take(worker, step);
      if (!settles) continue;
      await worker.parts.settle();
      if (comes !== 'none') await worker.parts.serve(comes === 'all');
      worker.check();
    }
    await worker.end();
    const [fault] = worker.parts.faults;
    if (fault) throw new Error(fault);
  });
  await fc.assert(property, propertyRuns(12_000));
});

test('requests a new browser when a prefetched one cannot be connected to', async () => {
  const worker = new Worker('test', false);
  const { parts } = worker;
  await parts.serve(false);
  worker.openContexts(1);
  await parts.settle();
  parts.grant(false, false);
  await parts.settle();
  worker.beginTest(false);
  worker.openContexts(2);
  await parts.settle();
  parts.open(false, 'unreachable');
  await parts.settle();
  expect(parts.requests.map(({ prefetch }) => prefetch)).toEqual([false]);
  await worker.end();
  expect(parts.faults).toEqual([]);
});

/** A worker whose test has opened a context, and is over. */
async function idleWorker(reuse: LeasePlan['reuse']): Promise<Worker> {
  const worker = new Worker(reuse, false);
  await worker.parts.serve(false);
  worker.openContexts(1);
  await worker.parts.serve(true);
  return worker;
}

for (const reuse of ['run', 'worker', 'test'] as const) {
  test(`reuse: '${reuse}': an idle worker gives its browsers up when others wait, and gets another one`, async () => {
    const worker = await idleWorker(reuse);
    const { parts } = worker;
    await worker.idle(false);
    expect(parts.sessions.flatMap(({ returned }) => returned)).toEqual([]);
    await worker.idle(true);
    const had = parts.sessions.length;
    expect(parts.sessions.map(({ returned }) => returned)).toEqual(Array(had).fill(['healthy']));
    worker.beginTest(false);
    worker.openContexts(1);
    await parts.serve(false);
    expect(parts.sessions[had]).toMatchObject({ open: 1, returned: [] });
    await worker.end();
    expect(parts.faults).toEqual([]);
  });
}

test('a worker keeps its browser while a context is open, and when a test begins before it is asked', async () => {
  const worker = await idleWorker('run');
  const { parts } = worker;
  worker.beginTest(true);
  worker.openContexts(1);
  await parts.settle();
  await worker.idle(true);
  worker.beginTest(false);
  await parts.clock.advance(60_000);
  expect(parts.sessions.map(({ returned }) => returned)).toEqual([[]]);
  await worker.end();
  expect(parts.faults).toEqual([]);
});

import { equal, ok } from 'node:assert/strict';
import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import { BrowserRequest } from '../../../../src/broker/acquire/requests/browser-request.ts';
import { listRunning } from '../../../../src/broker/acquire/requests/capacity-watch.ts';
import { PRIORITY, RequestScheduler } from '../../../../src/broker/acquire/requests/request-scheduler.ts';
import { HostedPool } from '../../../../src/providers/hosted/pools/hosted-pool.ts';
import type { BrowserPool } from '../../../../src/providers/port.ts';
import type { ServiceClient } from '../../../../src/service/index.ts';
import { propertyParts } from '../../../support/property-runs.ts';
import { hosted, noAccount, planOf } from '../../../support/unit/broker/broker-parts.ts';
import { FakeClock, settled } from '../../../support/unit/broker/fake-clock.ts';
import { ScriptedService } from '../../../support/unit/broker/scripted-service.ts';

interface Space {
  limit: number;
  unlisted?: number;
  known?: boolean;
  /** Otherwise the list is empty, and there at once. */
  lists?: boolean;
}

/** A workspace, and the request scheduler of one run. */
class Workspace {
  readonly clock = new FakeClock();
  readonly service = new ScriptedService(this.clock);
  readonly own: string[] = [];
  readonly order: string[] = [];
  readonly line: RequestScheduler;
  waiting = 0;

  constructor({ limit, unlisted = 0, known = true, lists = true }: Space) {
    Object.assign(this.service, { limit, unlisted });
    this.line = new RequestScheduler({
      provider: lists ? hosted(this.service) : { list: async function* () {} },
      runId: 'run-1',
      limit: known ? limit : null,
      held: () => this.own.length,
      owns: (sessionId) => this.service.sessions.get(sessionId)?.ours ?? false,
      clock: this.clock,
      random: () => 0.5,
    });
  }

  ask(
    note: string,
    { yields = false, signal = new AbortController().signal, pool = null as BrowserPool | null } = {},
  ): void {
    this.waiting += 1;
    const done = () => {
      this.waiting -= 1;
    };
    const { clock } = this;
    const random = () => 0.5;
    const asks = new BrowserRequest({
      provider: hosted(this.service),
      plan: planOf(),
      pool,
      project: '',
      needMs: () => 0,
      note,
      signal,
      closes: new AbortController().signal,
      account: noAccount(),
      clock,
      random,
    });
    this.line
      .ask({
        signal,
        priority: () => (yields ? PRIORITY.early : PRIORITY.needed),
        onWait: () => undefined,
        send: () => asks.send(),
        next: (error) => asks.next(error),
        onAgain: () => undefined,
      })
      .then(({ sessionId }) => {
        this.own.push(sessionId);
        this.order.push(note);
      })
      .then(done, done);
  }

  async endOwn(): Promise<void> {
    const sessionId = this.own.shift();
    if (!sessionId) return;
    const stopped = this.service.stopSession(sessionId);
    await this.clock.advance(20);
    await stopped;
    this.line.slotFreed();
    await settled();
  }
}

test('a list that shows room while the service refuses: one more request, then none until a session ends', async () => {
  const space = new Workspace({ limit: 5, unlisted: 2 });
  for (let n = 0; n < 5; n += 1) space.ask(`n${n}`);
  await space.clock.advance(110_000);
  expect(space.own).toHaveLength(3);
  expect(space.service.asks).toBeLessThanOrEqual(5 + 1);
  await space.endOwn();
  await space.clock.advance(30_000);
  expect(space.own).toHaveLength(3);
  expect(space.service.asks).toBeLessThanOrEqual(5 + 1 + 1);
});

test('one request tries whether the list is right about room; another one that is refused meanwhile waits', async () => {
  const space = new Workspace({ limit: 1, unlisted: 1, known: false, lists: false });
  space.service.latency = 3_000;
  space.ask('first');
  await space.clock.advance(200);
  space.ask('second');
  await space.clock.advance(60_000);
  expect(space.service.asks).toBe(2 + 1);
  expect(space.waiting).toBe(2);
});

test('a request that finds its pool empty leaves the room to the next one', async () => {
  const space = new Workspace({ limit: 1, unlisted: 1, known: false, lists: false });
  const empty = space.service.addPool('empty', { warm: 0 });
  space.ask('from the pool', { pool: new HostedPool(space.service as unknown as ServiceClient, empty) });
  await space.clock.advance(50);
  space.ask('another');
  expect(space.service.asks).toBe(1);
  space.service.unlisted = 0;
  await space.clock.advance(20_000);
  expect(space.order).toEqual(['another']);
});

test("the end of another run's session releases exactly one parked request", async () => {
  const space = new Workspace({ limit: 2, unlisted: 1, known: false });
  const other = space.service.addOther();
  for (let n = 0; n < 3; n += 1) space.ask(`n${n}`);
  await space.clock.advance(20_000);
  expect(space.order).toEqual([]);
  const { asks } = space.service;
  space.service.lose(other);
  await space.clock.advance(20_000);
  expect(space.order).toHaveLength(1);
  expect(space.service.asks).toBe(asks + 1);
});

test('a browser of this run that ends while a refusal is on its way justifies another request', async () => {
  const space = new Workspace({ limit: 1, known: false });
  space.ask('first');
  await space.clock.advance(50);
  space.ask('second');
  await settled();
  const [sessionId] = space.own;
  const session = space.service.sessions.get(sessionId ?? '');
  await space.clock.advance(20); // refused
  expect(space.waiting).toBe(1);
  if (session) space.service.lose(session);
  space.line.slotFreed();
  await space.clock.advance(50);
  expect(space.order).toEqual(['first', 'second']);
});

test('a waiting worker goes before a prefetch, even if the prefetch came first', async () => {
  const space = new Workspace({ limit: 1 });
  space.ask('first');
  await space.clock.advance(50);
  space.ask('prefetch', { yields: true });
  space.ask('now');
  await space.clock.advance(50);
  await space.endOwn();
  await space.clock.advance(50);
  expect(space.order).toEqual(['first', 'now']);
  await space.endOwn();
  await space.clock.advance(50);
  expect(space.order).toEqual(['first', 'now', 'prefetch']);
});

test('counts a session once if it becomes active while the list is read', async () => {
  const seen = { starting: ['a', 'b'], active: ['b', 'c'] };
  const order: string[] = [];
  const running = await listRunning(
    hosted({
      async *iterateSessions({ status }: { status?: string }) {
        order.push(String(status));
        for (const sessionId of status === 'starting' ? seen.starting : seen.active) yield { sessionId, status: 'x' };
      },
    }),
    'run-1',
    new AbortController().signal,
  );
  expect(order).toEqual(['starting', 'active']);
  expect(running).toEqual({ ids: new Set(['a', 'b', 'c']), holders: '3 without a note of poolwright' });
});

type Step =
  | { do: 'ask'; yields: boolean }
  | { do: 'leave'; which: number }
  | { do: 'endOwn' | 'otherStarts' | 'otherEnds' }
  | { do: 'fails' }
  | { do: 'advance'; ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('ask' as const), yields: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('leave' as const), which: fc.nat(5) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('endOwn', 'otherStarts', 'otherEnds') }) },
  { weight: 1, arbitrary: fc.constant({ do: 'fails' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(0, 10, 30, 5_000, 20_000) }),
  },
);
/** No list shows the end of an unlisted browser: there are always fewer of them than the limit. */
const world = fc
  .record({ room: fc.integer({ min: 1, max: 3 }), unlisted: fc.nat(1), known: fc.boolean() })
  .map(({ room, ...how }) => ({ ...how, limit: room + how.unlisted }));

/** Runs one step of a history; `leaving`: one abort controller for each request so far. */
async function play(space: Workspace, step: Step, leaving: AbortController[]): Promise<void> {
  const { service, clock } = space;
  const [other] = service.running.filter(({ ours }) => !ours);
  if (step.do === 'ask') {
    const one = new AbortController();
    leaving.push(one);
    space.ask(`n${leaving.length}`, { yields: step.yields, signal: one.signal });
  } else if (step.do === 'leave') leaving[step.which]?.abort(new Error('leaves'));
  else if (step.do === 'fails') service.script.ask.push(503);
  else if (step.do === 'endOwn') await space.endOwn();
  else if (step.do === 'otherEnds') other && service.lose(other);
  else if (step.do === 'otherStarts') service.running.length + service.unlisted < service.limit && service.addOther();
  await clock.advance(step.do === 'advance' ? step.ms : 0);
}

for (const { part, runs } of propertyParts(4, 1_000)) {
  test(`no history causes a loop of refusals, and a waiting request continues when there is room (${part})`, async () => {
    const property = fc.asyncProperty(world, fc.array(step, { maxLength: 30, size: 'max' }), async (how, steps) => {
      const space = new Workspace(how);
      const leaving: AbortController[] = [];
      for (const each of steps) await play(space, each, leaving);
      const { idleRepeats, failedAsks } = space.service;
      ok(idleRepeats <= 1 + space.order.length + failedAsks, `${idleRepeats} repeats without a reason`);
      // All other runs are gone, and this run gives back what it gets: waiting requests continue, at least one by one.
      space.service.script.ask.length = 0;
      await space.clock.advance(20_000);
      for (const other of space.service.running) if (!other.ours) space.service.lose(other);
      for (let round = 0; round < 40 && (space.waiting > 0 || space.own.length > 0); round += 1) {
        await space.endOwn();
        await space.clock.advance(15_000);
      }
      equal(space.waiting, 0);
      equal(space.clock.timers, 0);
    });
    await fc.assert(property, runs);
  });
}

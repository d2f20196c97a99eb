import { deepEqual, equal } from 'node:assert/strict';
import { test } from '@playwright/test';
import fc from 'fast-check';
import { Recorder } from '../../../../../src/runners/playwright-test/recording/recorder.ts';
import { propertyRuns } from '../../../../support/property-runs.ts';
import { aTestInfo, FakeConnection, FakeSink, type RecordedTest } from '../../../../support/unit/recorded-parts.ts';

const SESSIONS = ['s0', 's1', 's2'];

const work = fc.record({ session: fc.constantFrom(...SESSIONS), bytes: fc.nat(1_000), opens: fc.boolean() });
const someTest = fc.record({
  /** How many hooks run before it. */
  hooks: fc.nat(2),
  fixtures: fc.integer({ min: 1, max: 2 }),
  work: fc.array(work, { maxLength: 6 }),
  between: work,
});

type SomeTest = typeof someTest extends fc.Arbitrary<infer T> ? T : never;

/** A worker that runs tests, and the bytes that they moved on their browsers. */
class Worker {
  readonly recorder = new Recorder();
  readonly sink = new FakeSink();
  readonly infos: RecordedTest[] = [];
  readonly moved = new Map<string, number>();
  readonly #connections = new Map(SESSIONS.map((id) => [id, new FakeConnection(id)]));

  async run({ hooks, fixtures, work, between }: SomeTest): Promise<void> {
    const info = aTestInfo({ testId: `test-${this.infos.length}` });
    this.infos.push(info);
    const opened = new Set<string>();
    for (let n = 0; n <= hooks; n += 1) {
      info.duration = n < hooks ? 0 : 5;
      for (let depth = 0; depth < fixtures; depth += 1) this.recorder.begin(info, null, false);
      for (const each of work) this.#work(each, opened);
      for (let depth = 0; depth < fixtures; depth += 1) await this.recorder.end(info, this.sink);
    }
    this.#connections.get(between.session)?.loads(between.bytes);
    this.#connections.get(between.session)?.proxies(between.bytes, between.bytes);
    equal(info.attached.length, opened.size > 0 ? 1 : 0);
  }

  #work({ session, bytes, opens }: SomeTest['between'], opened: Set<string>): void {
    const connection = this.#connections.get(session) as FakeConnection;
    if (opens) this.recorder.uses(connection);
    if (opens) opened.add(session);
    connection.works(bytes);
    connection.proxies(2 * bytes, 3 * bytes);
    if (opened.has(session)) add(this.moved, session, bytes);
  }
}

function add(to: Map<string, number>, session: string, bytes: number): void {
  to.set(session, (to.get(session) ?? 0) + bytes);
}

const total = (bytes: Iterable<number>) => [...bytes].reduce((sum, each) => sum + each, 0);

test('records every byte of a test once and for the right browser, in any order of events', async () => {
  const property = fc.asyncProperty(fc.array(someTest, { maxLength: 8 }), async (tests) => {
    const worker = new Worker();
    for (const each of tests) await worker.run(each);
    const onRecord = new Map([...worker.moved.keys()].map((session) => [session, 0]));
    for (const [session, bytes] of worker.sink.reports) add(onRecord, session, bytes ?? 0);
    deepEqual(onRecord, worker.moved);
    const attached = worker.infos.flatMap((info) => info.attached.map(({ observedBytes }) => observedBytes ?? 0));
    equal(total(attached), total(worker.moved.values()));
    for (const { test } of worker.sink.usages) {
      equal(test.proxiedBytes, 5 * (test.observedBytes ?? 0));
      equal(test.proxiedSentBytes, 2 * (test.observedBytes ?? 0));
    }
  });
  await fc.assert(property, propertyRuns(500));
});

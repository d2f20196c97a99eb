import { expect, test } from '@playwright/test';
import type { RunRecord } from '../../../../src/record/run-record.ts';
import { type Model, modelOf } from '../../../../src/report/advise/past/model.ts';
import { pastRuns } from '../../../../src/report/advise/past/past-runs.ts';
import { runOf } from '../../../support/unit/advise/run-of.ts';
import { at } from '../../../support/unit/records.ts';

/** What is inferred from records: the order of the queue, parallel tests, dependencies. */

function modelFrom(...records: RunRecord[]): Model {
  const { runs, skipped } = pastRuns(
    records.map((record, n) => ({ file: String(n), record: { ...record, runId: `run-${n}` } })),
  );
  expect(skipped).toEqual([]);
  return modelOf(runs);
}

const groupsIn = ({ groups, tests }: Model) => groups.map((group) => group.tests.map((n) => tests[n]?.title).join(' '));

test('orders the first groups of all workers by slot, and the others by start', () => {
  const model = modelFrom(
    runOf([
      [1, 'us/b › 2', 1.0, 4],
      [0, 'us/a › 1', 1.3, 2],
      [0, 'us/c › 3', 2.1, 3],
      [1, 'us/d › 4', 4.1, 5],
    ]),
  );
  expect(groupsIn(model)).toEqual(['1', '2', '3', '4']);
});

test("runs tests of a file in parallel when they overlapped, else by Playwright's default", () => {
  const aside = modelFrom(
    runOf([
      [0, 'us/a › 1', 1, 4],
      [1, 'us/a › 2', 1, 3],
      [1, 'us/b › 3', 3, 5],
      [1, 'us/b › 4', 5, 6],
    ]),
  );
  expect([aside.sideBySide, aside.modeSource]).toEqual(['some', 'seen']);
  expect(groupsIn(aside)).toEqual(['1', '2', '3 4']);
  const inOneGo = modelFrom(
    runOf([
      [0, 'us/a › 1', 1, 4],
      [0, 'us/a › 2', 4, 6],
      [1, 'us/b › 3', 1, 6],
    ]),
  );
  expect([inOneGo.sideBySide, inOneGo.modeSource]).toEqual(['none', 'seen']);
  const alone = modelFrom(
    runOf([
      [0, 'us/a › 1', 1, 4],
      [0, 'us/a › 2', 4, 6],
    ]),
  );
  expect([alone.sideBySide, alone.modeSource, groupsIn(alone)]).toEqual(['none', 'assumed', ['1 2']]);
  const said = modelOf(
    pastRuns([
      {
        file: '',
        record: runOf([
          [0, 'us/a › 1', 1, 4],
          [0, 'us/a › 2', 4, 6],
        ]),
      },
    ]).runs,
    true,
  );
  expect([said.sideBySide, said.modeSource, groupsIn(said)]).toEqual(['all', 'given', ['1', '2']]);
});

test('treats an unclear file like the clear ones', () => {
  const { sideBySide } = modelFrom(
    runOf([
      [0, 'us/a › 1', 1, 4],
      [1, 'us/a › 2', 1, 3],
    ]),
    runOf([
      [0, 'us/a › 1', 1, 4],
      [0, 'us/b › 5', 4, 5],
      [0, 'us/b › 6', 5, 6],
    ]),
  );
  expect(sideBySide).toBe('all');
});

test('gives a project that others waited for its own phase, which runs in every shard', () => {
  const model = modelFrom(
    runOf([
      [0, 'setup/login › 1', 1, 6],
      [0, 'us/a › 2', 7, 9],
      [1, 'us/b › 3', 7, 12],
      [0, 'us/c › 4', 9, 11],
    ]),
  );
  expect(model.projects.map((name, n) => [name, model.phases[n]])).toEqual([
    ['setup', 0],
    ['us', 1],
  ]);
  expect(model.sharedPhase).toBe(1);
});

test('finds no phase when a project merely begins later, or the run had one worker', () => {
  const later = modelFrom(
    runOf([
      [0, 'us/a › 1', 1, 6],
      [1, 'us/b › 2', 1, 6.2],
      [0, 'de/c › 3', 6.9, 9],
      [1, 'de/d › 4', 6.6, 9],
    ]),
  );
  expect(later.phases).toEqual([0, 0]);
  expect(
    modelFrom(
      runOf([
        [0, 'setup/a › 1', 1, 6],
        [0, 'us/b › 2', 9, 12],
      ]),
    ).phases,
  ).toEqual([0, 0]);
});

test('shares browsers among projects that used the same ones', () => {
  const record = runOf([
    [0, 'us/a › 1', 1, 2],
    [0, 'de/b › 2', 3, 4],
    [0, 'fr/c › 3', 5, 6],
  ]);
  const [us, de, fr] = record.sessions;
  const together = {
    ...record,
    sessions: [{ ...(us ?? fail()), tests: [...(us?.tests ?? []), ...(de?.tests ?? [])] }, fr ?? fail()],
  };
  expect(modelFrom(record).kinds).toEqual([0, 1, 2]);
  expect(modelFrom(together).kinds).toEqual([0, 0, 2]);
});

function fail(): never {
  throw new Error('there is no such session');
}

test("excludes the wait for a browser from a test's time, and sorts pauses by kind", () => {
  const model = modelFrom(
    runOf(
      [
        [0, 'us/a › 1', 1, 6],
        [0, 'us/a › 2', 6.1, 7, { status: 'failed', ok: false }],
        [0, 'us/a › 2', 8.1, 9, { retry: 1 }],
        [0, 'us/b › 3', 9.2, 10, { status: 'failed', ok: true }],
        [0, 'us/b › 4', 10.1, 11],
      ],
      { endedAt: at(11.5) },
      () => ({ lentAt: at(4), waitMs: 2_500, startMs: 3_000 }),
    ),
  );
  const [times] = model.runs;
  expect(times?.tries.map((tries) => tries.map(({ ms, failed }) => [ms, failed]))).toEqual([
    [[2_500, false]],
    [
      [900, true],
      [900, false],
    ],
    [[800, false]],
    [[900, false]],
  ]);
  expect(times?.samples).toMatchObject({
    headMs: 1_000,
    tailMs: 500,
    gaps: { test: [100, 100], group: [200], restart: [1_100] },
    waits: { session: { first: [2_500], later: [] }, pool: { first: [], later: [] } },
    starts: { session: [3_000], pool: [] },
    reuse: 'run',
  });
  expect(times).toMatchObject({ workers: 1, shards: 1, wallMs: 11_500 });
});

test('finds out whether browsers were reused', () => {
  const failing = runOf([
    [0, 'us/a › 1', 1, 2, { ok: false, status: 'failed' }],
    [0, 'us/a › 2', 3, 4],
    [0, 'us/a › 3', 4, 5],
  ]);
  const [session] = failing.sessions;
  const tests = session?.tests ?? [];
  const split = (...parts: (typeof tests)[]) => ({
    ...failing,
    sessions: parts.map((own, n) => ({
      ...(session ?? fail()),
      sessionId: String(n),
      tests: own,
      endReason: 'finished' as const,
    })),
  });
  const reuse = (record: RunRecord) => modelFrom(record).runs[0]?.samples.reuse;
  expect(reuse(failing)).toBe('run');
  expect(reuse(split(tests.slice(0, 1), tests.slice(1)))).toBe('worker');
  expect(reuse(split(...tests.map((one) => [one])))).toBe('test');
});

test('takes the tests from the newest run, and their missing times, too', () => {
  const model = modelFrom(
    runOf(
      [
        [0, 'us/a › 1', 1, 3],
        [0, 'us/a › gone', 3, 9],
      ],
      { startedAt: at(-60) },
    ),
    runOf([
      [0, 'us/a › 1', 1, 2],
      [0, 'us/a › 5', 2, 7],
    ]),
  );
  expect(model.tests.map(({ title }) => title)).toEqual(['1', '5']);
  expect(model.runs.map(({ tries }) => tries.map(([first]) => first?.ms))).toEqual([
    [2_000, 5_000],
    [1_000, 5_000],
  ]);
});

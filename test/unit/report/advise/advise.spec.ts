import { equal, ok } from 'node:assert/strict';
import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import type { RunRecord, SessionRecord } from '../../../../src/record/run-record.ts';
import { type AdviseOptions, advise } from '../../../../src/report/advise/advise.ts';
import { type Choice, recommend } from '../../../../src/report/advise/choices.ts';
import { pastRuns } from '../../../../src/report/advise/past/past-runs.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { runOf, type SeenTest } from '../../../support/unit/advise/run-of.ts';
import { at } from '../../../support/unit/records.ts';

/** Advice from records. */

function adviceOn(records: readonly RunRecord[], options: AdviseOptions = {}) {
  const named = records.map((record, n) => ({ file: String(n), record: { ...record, runId: `run-${n}` } }));
  return advise(pastRuns(named).runs, options);
}

/** Files with one test each, run by one worker from 1 s on, with these times in s. */
function inARow(...seconds: number[]): SeenTest[] {
  let begin = 1;
  return seconds.map((each, n) => {
    begin += each;
    return [0, `us/file-${n} › 1`, begin - each, begin];
  });
}

test('halves the time of eight equal files with each doubling of browsers, except the overhead', () => {
  const { choices, recommended, bounds } = adviceOn(
    [runOf(inARow(...Array<number>(8).fill(10)), { endedAt: at(83) })],
    { shards: 1 },
  );
  expect(choices.map(({ workers, medianMs }) => [workers, medianMs])).toEqual([
    [1, 83_000],
    [2, 43_000],
    [3, 33_000],
    [4, 23_000],
    [8, 13_000],
  ]);
  expect(recommended).toMatchObject({ fits: true, choice: { workers: 8 } });
  expect(bounds).toMatchObject({ workMs: 80_000, groups: { length: 5 } });
});

test('lists the long file that limits the run, and no rows with more browsers', () => {
  const { choices, bounds, recommended } = adviceOn([runOf([...inARow(30, 5, 5, 5, 5, 5, 5)])], { shards: 1 });
  expect(choices.map(({ workers, medianMs }) => [workers, medianMs])).toEqual([
    [1, 61_000],
    [2, 31_000],
  ]);
  expect(recommended?.choice.workers).toBe(2);
  expect(bounds.groups[0]).toMatchObject({ file: 'file-0', ms: 30_000, boundsFrom: 2, tests: 1 });
});

test('recommends by time, browsers or cost', () => {
  const record = runOf(inARow(...Array<number>(8).fill(10)));
  const chosen = (options: AdviseOptions) => {
    const { recommended } = adviceOn([record], { shards: 1, ...options });
    return [recommended?.choice.workers, recommended?.fits];
  };
  expect(chosen({ timeMs: 45_000 })).toEqual([2, true]);
  expect(chosen({ timeMs: 41_000 })).toEqual([2, true]);
  expect(chosen({ timeMs: 40_000 })).toEqual([3, true]);
  expect(chosen({ timeMs: 5_000 })).toEqual([8, false]);
  expect(chosen({ browsers: 3 })).toEqual([3, true]);
  expect(chosen({ limit: 4 })).toEqual([4, true]);
  // 3600 per hour is 1 per browser-second. All rows cost about the same; many browsers add a little at the end.
  const prices = { perHour: 3_600, perGb: 0 };
  const { choices } = adviceOn([record], { shards: 1, prices });
  for (const { cost, browserMs } of choices) expect(cost).toBeCloseTo(browserMs / 1_000, 6);
  expect(chosen({ prices, cost: 1_000 })).toEqual([8, true]);
  expect(chosen({ prices, cost: 1 })).toEqual([expect.any(Number), false]);
  expect(adviceOn([record], { shards: 4, limit: 3 })).toMatchObject({ choices: [], recommended: null });
});

test('adds the same cost of bytes for any number of browsers', () => {
  const record = runOf(inARow(10, 10), {}, () => ({ bandwidthBytes: 2e9 }));
  const { choices } = adviceOn([record], { shards: 1, prices: { perHour: 0, perGb: 1.5 } });
  expect(choices.map(({ cost }) => cost)).toEqual(choices.map(() => 3));
});

test('takes the 90th percentile from past runs', () => {
  const days = [10, 10, 10, 10, 10, 10, 10, 10, 30, 60].map((seconds, n) =>
    runOf(inARow(seconds, seconds), {
      startedAt: at(0),
      endedAt: at(1 + 2 * seconds),
      shard: null,
      service: 'hosted',
      leaseFailures: [`${n}`],
    }),
  );
  const { choices } = adviceOn(days, { shards: 1 });
  expect(choices[0]).toMatchObject({ workers: 1, medianMs: 21_000, p90Ms: 61_000 });
});

test('shows the cost of retries and the saving of a browser that is always ready', () => {
  const record = runOf(
    [
      [0, 'us/a › 1', 1, 14, { ok: false, status: 'failed' }],
      [0, 'us/a › 1', 15, 18, { retry: 1 }],
      [0, 'us/b › 2', 18, 20],
    ],
    {},
    (): Partial<SessionRecord> => ({ lentAt: at(11), waitMs: 10_000, startMs: 10_500 }),
  );
  const { retries, waits, of } = adviceOn([record], { browsers: 1 });
  expect(of.medianMs).toBe(20_000);
  expect(retries).toMatchObject({ failedTries: 1, failedMs: 3_000, savesMs: 4_000 });
  expect(waits).toMatchObject({
    waitedMs: 10_000,
    savesMs: 10_000,
    recommended: 'pool',
    why: 'a pool that always has a browser saves much',
  });
  expect(waits.sources).toEqual([{ source: 'session', browsers: 1, startMs: 10_500, waitMs: 10_000, wallMs: 20_000 }]);
});

test('compares recorded leases and sessions', () => {
  const tests = inARow(10, 10);
  const from = (source: SessionRecord['source'], waitMs: number) =>
    runOf(tests, {}, () => ({ source, lentAt: at(1 + waitMs / 1_000), waitMs, startMs: waitMs }));
  const { waits } = adviceOn([from('pool', 500), { ...from('session', 6_000), startedAt: at(0) }], { browsers: 1 });
  expect(waits.sources.map(({ source, waitMs }) => [source, waitMs])).toEqual([
    ['pool', 500],
    ['session', 6_000],
  ]);
  expect(waits).toMatchObject({ recommended: 'pool', why: 'compared' });
  expect(adviceOn([from('pool', 500)]).waits).toMatchObject({ recommended: 'pool', why: 'unknown' });
  expect(adviceOn([from('session', 0)]).waits).toMatchObject({
    recommended: 'session',
    why: 'a pool that always has a browser saves little',
  });
});

test('lists its assumptions', () => {
  const one = runOf(
    [
      [0, 'us/a › 1', 1, 4],
      [0, 'us/a › 2', 4, 6],
    ],
    { service: 'emulator' },
  );
  expect(adviceOn([one]).notes).toEqual([
    expect.stringContaining('--fully-parallel'),
    expect.stringContaining('used the emulator'),
    expect.stringContaining('Based on one run'),
  ]);
  const part = runOf([[0, 'us/a › 1', 1, 4]]);
  expect(adviceOn([{ ...one, startedAt: at(-9) }, part]).notes).toContainEqual(
    expect.stringContaining('lacks 1 of the tests in older runs'),
  );
  const slower = runOf([
    [0, 'us/a › 1', 1, 7],
    [1, 'us/b › 2', 1, 5],
  ]);
  const quicker = runOf([
    [0, 'us/a › 1', 1, 5],
    [0, 'us/b › 2', 5, 8],
  ]);
  expect(adviceOn([quicker, slower]).notes).toContainEqual(
    expect.stringContaining('42 % longer in the runs with 2 workers than in those with 1'),
  );
  expect(adviceOn([slower, slower, quicker, quicker].map((run) => ({ ...run, leaseFailures: [] }))).notes).toHaveLength(
    1,
  );
  expect(adviceOn([quicker, quicker]).notes).toEqual([]);
  const blobs = runOf([[0, 'us/a › 1', 1, 4]], {}, () => ({ lentAt: null, waitMs: null, startMs: null }));
  expect(adviceOn([blobs]).notes).toContainEqual(expect.stringContaining('no wait and start times'));
});

test('gives the same advice for the same records; the seed changes only waits', () => {
  let wait = 0;
  const record = runOf([...inARow(9, 8, 7, 6), [1, 'us/x › 1', 1, 20]], {}, () => {
    wait += 700;
    return { lentAt: at(1 + wait / 1_000), waitMs: wait, startMs: wait };
  });
  expect(adviceOn([record])).toEqual(adviceOn([record]));
  const other = adviceOn([record], { seed: 2 });
  expect(other.bounds).toEqual(adviceOn([record]).bounds);
  expect(other.choices).not.toEqual(adviceOn([record]).choices);
});

test('gives advice for any runs: never shorter than the longest group, with no more work than recorded', () => {
  const seen = fc.array(
    fc.record({
      slot: fc.nat(3),
      file: fc.nat(4),
      project: fc.constantFrom('us', 'de'),
      seconds: fc.integer({ min: 1, max: 60 }),
      fails: fc.boolean(),
    }),
    { minLength: 1, maxLength: 20 },
  );
  const property = fc.property(seen, fc.option(fc.boolean(), { nil: undefined }), (all, fullyParallel) => {
    const free = [1, 1, 1, 1];
    const tests = all.map(({ slot, file, project, seconds, fails }, n): SeenTest => {
      const begin = free[slot] ?? 1;
      free[slot] = begin + seconds;
      return [
        slot,
        `${project}/file-${file} › ${n}`,
        begin,
        begin + seconds,
        fails ? { ok: false, status: 'failed' } : {},
      ];
    });
    const { choices, recommended, bounds, retries } = adviceOn([runOf(tests)], { fullyParallel, draws: 2 });
    equal(
      bounds.workMs,
      all.reduce((sum, { seconds }) => sum + seconds * 1_000, 0),
    );
    equal(recommended?.fits, true);
    equal(retries.failedTries, all.filter(({ fails }) => fails).length);
    for (const { medianMs, p90Ms, browserMs, workers, shards } of choices) {
      const least = Math.max(bounds.groups[0]?.ms ?? 0, bounds.workMs / workers / shards);
      ok(least <= medianMs && medianMs <= p90Ms, `${least} ms at least, ${medianMs} median, ${p90Ms} 90th percentile`);
      ok(browserMs >= bounds.workMs - 1e-6, `${browserMs} ms of browsers for ${bounds.workMs} of work`);
    }
  });
  fc.assert(property, propertyRuns(200));
});

test('recommends the row with the fewest browsers among those that meet the goal', () => {
  const row = (browsers: number, medianMs: number, cost: number | null = null): Choice => {
    return {
      browsers,
      workers: browsers,
      shards: 1,
      medianMs,
      p90Ms: medianMs + 1_000,
      browserMs: 0,
      waitedMs: 0,
      cost,
    };
  };
  const rows = [row(1, 90_000, 2), row(2, 50_000, 3), row(4, 31_000, 5), row(8, 30_000, 9)];
  const chosen = (wishes: Parameters<typeof recommend>[1]) => recommend(rows, wishes)?.choice.browsers;
  expect([
    chosen({}),
    chosen({ timeMs: 51_000 }),
    chosen({ timeMs: 50_500 }),
    chosen({ cost: 4 }),
    chosen({ browsers: 8 }),
  ]).toEqual([4, 2, 4, 2, 8]);
  expect(recommend([], {})).toBeNull();
});

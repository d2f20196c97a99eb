import { deepEqual, ok } from 'node:assert/strict';
import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import { type Costs, type Job, type Schedule, schedule } from '../../../../src/report/advise/simulation/schedule.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

/** The simulation of Playwright: invariants, and examples small enough to check by hand. */

const FREE: Costs = {
  headMs: 0,
  tailMs: 0,
  prefetchMs: 0,
  reuse: 'run',
  gapMs: () => 0,
  waitMs: () => 0,
};

/** Tolerance for sums of fractions. */
const NEAR = 1e-6;

/** A job of tests with these tries, in ms; a negative one fails. */
function aJob(project: number, first: number, ...tests: number[][]): Job {
  return {
    project,
    kind: project,
    tests: tests.map((tries, n) => ({
      test: first + n,
      done: 0,
      tries: tries.map((ms) => ({ ms: Math.abs(ms), failed: ms < 0 })),
    })),
  };
}

/** Jobs of one phase. Every try but the last fails, and sometimes the last, too. */
const jobs: fc.Arbitrary<Job[]> = fc
  .array(
    fc.record({
      project: fc.nat(2),
      tests: fc.array(
        fc.record({
          tries: fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 3 }),
          fails: fc.boolean(),
        }),
        {
          minLength: 1,
          maxLength: 5,
        },
      ),
    }),
    { maxLength: 12 },
  )
  .map((all) => {
    let next = 0;
    return all.map(({ project, tests }) => {
      const given = tests.map(({ tries, fails }) => tries.map((ms, n) => (n < tries.length - 1 || fails ? -ms : ms)));
      const job = aJob(project, next, ...given);
      next += tests.length;
      return job;
    });
  });

const slots = fc.integer({ min: 1, max: 9 });
const workOf = (job: Job) => job.tests.flatMap(({ tries }) => tries).reduce((sum, { ms }) => sum + ms, 0);
const total = (all: readonly Job[]) => all.reduce((sum, job) => sum + workOf(job), 0);
const longest = (all: readonly Job[]) => Math.max(0, ...all.map(workOf));

/** Errors: a try that is missing, repeated or out of order, or two tries at the same time on a slot. */
function faultsOf(all: readonly Job[], { steps, wallMs, browsers }: Schedule, count: number): string[] {
  const faults: string[] = [];
  const check = (holds: boolean, fault: string) => void (holds || faults.push(fault));
  const given = all.flatMap(({ tests }) =>
    tests.flatMap(({ test, tries }) => tries.map((each, retry) => ({ test, retry, ...each }))),
  );
  const sorted = (some: { test: number; retry: number; ms: number; failed: boolean }[]) =>
    JSON.stringify(some.map(({ test, retry, ms, failed }) => `${test} ${retry} ${ms} ${failed}`).sort());
  check(sorted(steps) === sorted(given), 'not every try is there once');
  const last = new Map<string, number>();
  for (const step of steps.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    const { slot, test, start, end, waitMs, ms } = step;
    check(slot < count, `slot ${slot} of ${count}`);
    check(Math.abs(end - start - waitMs - ms) < NEAR, `not as long as it is: ${JSON.stringify(step)}`);
    check(end <= wallMs, `after the end of the run: ${JSON.stringify(step)}`);
    for (const key of [`slot ${slot}`, `test ${test}`]) {
      check(start >= (last.get(key) ?? 0) - NEAR, `${key} has two tries at ${start}`);
      last.set(key, end);
    }
  }
  check(
    browsers.every((life) => life >= 0),
    `browsers were there for ${browsers}`,
  );
  return faults;
}

test('runs every try once and one at a time per slot, for any overhead', () => {
  const costs = fc.record({
    headMs: fc.nat(1_000),
    tailMs: fc.nat(1_000),
    prefetchMs: fc.nat(500),
    reuse: fc.constantFrom('run' as const, 'worker' as const, 'test' as const),
    gap: fc.nat(300),
    wait: fc.nat(2_000),
  });
  const property = fc.property(jobs, jobs, slots, costs, (early, late, count, { gap, wait, ...given }) => {
    const shifted = late.map((job) => ({
      ...job,
      tests: job.tests.map((one) => ({ ...one, test: one.test + 1_000 })),
    }));
    const made = schedule([early, shifted], count, {
      ...given,
      gapMs: (kind, number) => (kind === 'test' ? gap / 2 : gap + (number % 7)),
      waitMs: (nth) => wait / (1 + (nth % 3)),
    });
    deepEqual(faultsOf([...early, ...shifted], made, count), []);
    // A phase begins when the previous one has ended.
    const ends = made.steps.filter(({ test: number }) => number < 1_000).map(({ end }) => end);
    const starts = made.steps.filter(({ test: number }) => number >= 1_000).map(({ start }) => start);
    ok(Math.min(...starts) >= Math.max(0, ...ends) - NEAR);
    // Each try adds at most one pause and one wait: Graham's bound for this longer work.
    const inflated = (some: Job[]) =>
      some.map((job) => workOf(job) + job.tests.flatMap(({ tries }) => tries).length * (gap + 7 + wait));
    const bound = [early, shifted].reduce((sum, some) => {
      const each = inflated(some);
      return sum + each.reduce((a, b) => a + b, 0) / count + Math.max(0, ...each);
    }, given.headMs + given.tailMs);
    ok(made.wallMs <= bound + NEAR, `${made.wallMs} ms, ${bound} at most`);
  });
  fc.assert(property, propertyRuns(300));
});

test("stays within Graham's bounds with more browsers, and above the work and the longest job", () => {
  const property = fc.property(jobs, slots, slots, (all, a, b) => {
    const [few, many] = [Math.min(a, b), Math.max(a, b)];
    const [slow, fast] = [schedule([all], few, FREE).wallMs, schedule([all], many, FREE).wallMs];
    for (const [count, wall] of [
      [few, slow],
      [many, fast],
    ] as const) {
      ok(wall >= Math.max(total(all) / count, longest(all)) - NEAR);
      ok(wall <= total(all) / count + (1 - 1 / count) * longest(all) + NEAR);
    }
    ok(fast <= slow * (1 + (few - 1) / many) + NEAR);
  });
  fc.assert(property, propertyRuns(500));
});

test('runs everything in sequence with one worker, and takes the longest job with one worker per job', () => {
  const all = [aJob(0, 0, [100], [200]), aJob(0, 2, [400]), aJob(0, 3, [50], [50])];
  expect(schedule([all], 1, FREE).wallMs).toBe(800);
  expect(schedule([all], 3, FREE).wallMs).toBe(400);
  expect(schedule([all], 30, FREE)).toMatchObject({ wallMs: 400, browsers: { length: 3 } });
});

test('takes only the time of start and end without tests, and no browser', () => {
  for (const phases of [[], [[]], [[], []]]) {
    expect(schedule(phases, 3, { ...FREE, headMs: 700, tailMs: 300 })).toEqual({
      steps: [],
      wallMs: 1_000,
      browsers: [],
    });
  }
});

test('runs a failed test again first, in a new worker, on the same browser', () => {
  const gaps: string[] = [];
  const all = [aJob(0, 0, [-100, 80], [50]), aJob(0, 2, [10])];
  const made = schedule([all], 1, {
    ...FREE,
    headMs: 500,
    gapMs: (gap, number, retry) => {
      gaps.push(`${gap} ${number} ${retry}`);
      return { test: 1, group: 20, restart: 600 }[gap];
    },
    waitMs: () => 300,
  });
  expect(made.steps.map(({ test: number, retry, start, end }) => [number, retry, start, end])).toEqual([
    [0, 0, 500, 900],
    [0, 1, 1_500, 1_580],
    [1, 0, 1_581, 1_631],
    [2, 0, 1_651, 1_661],
  ]);
  expect(gaps).toEqual(['restart 0 1', 'test 1 0', 'group 2 0']);
  expect(made.browsers).toEqual([861]); // from 800 to the end
});

test('waits for a new browser per worker or per test when reuse is off', () => {
  const all = [aJob(0, 0, [-100, 80], [50])];
  const waits = (reuse: Costs['reuse']) =>
    schedule([all], 1, { ...FREE, reuse, waitMs: () => 300 }).steps.map(({ waitMs }) => waitMs);
  expect(waits('run')).toEqual([300, 0, 0]);
  expect(waits('worker')).toEqual([300, 300, 0]);
  expect(waits('test')).toEqual([300, 300, 300]);
});

test('prefers a free worker of the same project, and shares browsers among projects of one kind', () => {
  const all = [aJob(0, 0, [100]), aJob(1, 1, [90]), aJob(1, 2, [5]), aJob(0, 3, [10])];
  const gaps: string[] = [];
  const costs: Costs = {
    ...FREE,
    waitMs: () => 300,
    gapMs: (gap) => {
      gaps.push(gap);
      return 0;
    },
  };
  const made = schedule([all], 2, costs);
  expect(made.steps.map(({ slot }) => slot)).toEqual([0, 1, 1, 1]);
  expect(gaps).toEqual(['group', 'restart']);
  const alike = [aJob(0, 0, [100]), { ...aJob(1, 1, [100]), kind: 0 }];
  expect(schedule([alike], 1, costs)).toMatchObject({ browsers: { length: 1 }, wallMs: 500 });
  expect(schedule([[aJob(0, 0, [100]), aJob(1, 1, [100])]], 1, costs)).toMatchObject({
    browsers: { length: 2 },
    wallMs: 800,
  });
});

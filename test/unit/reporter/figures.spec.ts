import { expect, test } from '@playwright/test';
import { figuresOf } from '../../../src/record/figures.ts';
import { checkBudget } from '../../../src/reporter/summary/budget.ts';
import { bytes, duration } from '../../../src/reporter/summary/format.ts';
import { summaryLines } from '../../../src/reporter/summary/summary.ts';
import { aRecord, aSession, aTest, at } from './records.ts';

const FILES = { record: 'run.json', timeline: 'timeline.html' };
const PIPE = { files: FILES, stream: { isTTY: false, columns: 0 } };

/** Two sessions: a flaky test, one that lost its browser, one that used both browsers, one that failed by itself. */
const record = aRecord({
  balance: { startCents: 100, endCents: 93 },
  sessions: [
    aSession({
      sessionId: 'one',
      source: 'pool',
      startMs: 500,
      waitMs: 0,
      workersServed: 3,
      endReason: 'rolled-over',
      bandwidthBytes: 3_000_000,
      tests: [
        aTest({ id: 'flaky', status: 'failed', ok: false }),
        aTest({ id: 'flaky', retry: 1, endedAt: at(7) }),
        aTest({ id: 'both', observedBytes: 900_000, endedAt: at(20) }),
        aTest({ id: 'expected', status: 'failed', ok: true, observedBytes: null }),
      ],
    }),
    aSession({
      sessionId: 'two',
      startMs: 4_000,
      waitMs: 2_000,
      endConfirmed: false,
      infrastructureFailures: ['session two was lost'],
      tests: [
        aTest({ id: 'both', observedBytes: 200_000, endedAt: at(20) }),
        aTest({ id: 'fails', status: 'timedOut', ok: false }),
        aTest({ id: 'lost', status: 'failed', ok: false, infrastructureFailure: 'session two was lost' }),
        aTest({ id: 'stopped', status: 'interrupted', ok: false }),
      ],
    }),
  ],
  leaseFailures: ['out of credit', 'out of credit'],
});

test('figures of a run', () => {
  const { slowest, heaviest, ...figures } = figuresOf(record);
  expect(figures).toEqual({
    sessions: 2,
    fromPool: 1,
    tests: 6,
    retries: 1,
    failedTests: 1,
    lostTests: 1,
    testsPerSession: { median: 4, most: 4 },
    waited: { median: 0, longest: 2_000 },
    start: { median: 500, p95: 4_000 },
    reconnects: 2,
    rollovers: 1,
    observedBytes: 1_105_000,
    bridgedBytes: 0,
    serviceBytes: 3_000_000,
    withoutFigure: 1,
    costCents: 7,
    lost: ['session two was lost'],
    leaseFailures: ['out of credit'],
    unconfirmed: ['two'],
  });
  expect(slowest.map(({ id, durationMs }) => [id, durationMs])).toEqual([
    ['both', 16_000],
    ['flaky', 3_000],
    ['flaky', 2_000],
    ['expected', 2_000],
    ['fails', 2_000],
  ]);
  expect(heaviest[0]).toMatchObject({ id: 'both', observedBytes: 1_100_000 });
  expect(heaviest.map(({ id }) => id)).not.toContain('expected');
});

test('p95 is what 95 of 100 do not exceed', () => {
  const sessions = Array.from({ length: 100 }, (_, n) => aSession({ sessionId: `${n}`, startMs: 100 - n }));
  expect(figuresOf(aRecord({ sessions })).start).toEqual({ median: 50, p95: 95 });
});

test('what is not known is not said', () => {
  const session = aSession({ startMs: null, waitMs: null, endConfirmed: null });
  const figures = figuresOf(aRecord({ sessions: [session] }));
  expect(figures).toMatchObject({ start: null, waited: null, serviceBytes: null, costCents: null, unconfirmed: [] });
  // Money that came in meanwhile hides what was spent.
  expect(figuresOf(aRecord({ balance: { startCents: 5, endCents: 1_000 } })).costCents).toBeNull();
  const text = summaryLines(aRecord({ sessions: [session] }), PIPE).join('\n');
  expect(text).not.toMatch(/start|waited|cost|slowest|NaN|null|Infinity/);
  expect(text).toContain("  bandwidth 0 B observed in the tests' pages (no figure from the service)\n");
  const bridged = summaryLines(aRecord({ sessions: [aSession({ bridgedBytes: 4_100_000 })] }), PIPE).join('\n');
  expect(bridged).toContain(
    "observed in the tests' pages (no figure from the service); 4.1 MB through the test machine\n",
  );
  expect(summaryLines(aRecord({}), PIPE)[0]).toBe('poolwright: 0 tests on 0 hosted browsers');
});

test('the summary says it in lines', () => {
  expect(summaryLines(record, { ...PIPE, notes: ['budget exceeded: x'] }).join('\n')).toBe(
    `poolwright: 6 tests on 2 hosted browsers
  from      1 leased, 1 created
  tests     4 per browser (median), 4 at most; 1 failed, 1 failed by a lost browser, 1 retry
  waited    median 0.0 s, longest 2.0 s
  start     median 0.5 s, p95 4.0 s
  reused    2 reconnects, 1 rollover
  bandwidth 3.0 MB by the service, 1.1 MB observed in the tests' pages (1 without a figure)
  cost      7 cents by the workspace's balance, whoever used it
  slowest   16.0 s  [us] a.spec.ts:3 › a test
             3.0 s  [us] a.spec.ts:3 › a test (retry 1)
             2.0 s  [us] a.spec.ts:3 › a test
             2.0 s  [us] a.spec.ts:3 › a test
             2.0 s  [us] a.spec.ts:3 › a test
  heaviest  1.1 MB  [us] a.spec.ts:3 › a test
            1.0 kB  [us] a.spec.ts:3 › a test
            1.0 kB  [us] a.spec.ts:3 › a test (retry 1)
            1.0 kB  [us] a.spec.ts:3 › a test
            1.0 kB  [us] a.spec.ts:3 › a test
  browser lost: session two was lost
  no browser: out of credit
  NOT CONFIRMED ENDED: session two. Stop it: npx poolwright sessions stop two
  budget exceeded: x
  timeline  timeline.html
  record    run.json`,
  );
});

test('on a terminal, names of tests are as long as there is room', () => {
  const lines = summaryLines(record, { ...PIPE, stream: { isTTY: true, columns: 36 } });
  expect(lines).toContain('  slowest   16.0 s  [us] a.spec.ts:…');
  expect(lines).toContain("  cost      7 cents by the workspace's balance, whoever used it");
});

test('many failures are some lines', () => {
  const infrastructureFailures = Array.from({ length: 30 }, (_, n) => `failure ${n}`);
  const lines = summaryLines(aRecord({ sessions: [aSession({ infrastructureFailures })] }), PIPE);
  expect(lines.filter((line) => line.includes('browser lost'))).toHaveLength(10);
  expect(lines.join('\n')).toContain('… and 20 more, in the record');
});

const budgets: [string, Parameters<typeof checkBudget>[1], string[]][] = [
  ['kept', { bandwidthMB: 3.205, sessions: 2, costCents: 7 }, []],
  ['none', {}, []],
  // The second session has no figure of the service: what its tests moved counts.
  ['bandwidth', { bandwidthMB: 3.2 }, ['budget exceeded: bandwidthMB may be 3.2, and the run used 3.203 MB']],
  ['sessions', { sessions: 1 }, ['budget exceeded: sessions may be 1, and the run used 2 browsers']],
  ['cost', { costCents: 6 }, ['budget exceeded: costCents may be 6, and the run used 7 cents']],
  [
    'all at once',
    { bandwidthMB: 0, sessions: 0, costCents: 0 },
    [
      'budget exceeded: bandwidthMB may be 0, and the run used 3.203 MB',
      'budget exceeded: sessions may be 0, and the run used 2 browsers',
      'budget exceeded: costCents may be 0, and the run used 7 cents',
    ],
  ],
];
for (const [name, budget, exceeded] of budgets) {
  test(`budget: ${name}`, () => expect(checkBudget(record, budget)).toEqual({ exceeded, unknown: [] }));
}

test('budget: a cost that nobody knows is said, and is no failure', () => {
  expect(checkBudget(aRecord({}), { costCents: 0 })).toEqual({
    exceeded: [],
    unknown: ['budget costCents: not checked, the service gives no figure of cents'],
  });
});

test('figures as people read them', () => {
  expect([0, 940, 59_949, 59_950, 60_000, 125_400, 3_600_000, 5_400_000].map(duration)).toEqual([
    '0.0 s',
    '0.9 s',
    '59.9 s',
    '1 min',
    '1 min',
    '2 min 5 s',
    '1 h 0 min',
    '1 h 30 min',
  ]);
  expect([0, 999, 1_000, 1_500_000, 2_340_000_000].map(bytes)).toEqual(['0 B', '999 B', '1.0 kB', '1.5 MB', '2.34 GB']);
});

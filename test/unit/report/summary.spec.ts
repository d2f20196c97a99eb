import { expect, test } from '@playwright/test';
import { withFigures } from '../../../src/record/figures.ts';
import type { RunRecord } from '../../../src/record/run-record.ts';
import { checkBudget } from '../../../src/report/summary/budget.ts';
import { bytes, duration } from '../../../src/report/summary/format.ts';
import { Sheet } from '../../../src/report/summary/layout.ts';
import { type SummaryOptions, summaryLines } from '../../../src/report/summary/summary.ts';
import { aRecord, aSession, aTest, TROUBLED_RUN } from '../../support/unit/records.ts';

const FILES = { record: 'run.json', timeline: 'timeline.html' };
const PIPE = { files: FILES, sheet: new Sheet() };

const figuresOf = (record: RunRecord) => withFigures(record).figures;
const lines = (record: RunRecord, options: SummaryOptions = PIPE) => summaryLines(withFigures(record), options);

test('leaves out unknown figures', () => {
  const session = aSession({ startMs: null, waitMs: null, endConfirmed: null });
  const text = lines(aRecord({ sessions: [session] })).join('\n');
  expect(text).toBe('poolwright: 0 tests on 1 hosted browser\n  files     timeline.html, run.json');
  const proxied = lines(aRecord({ sessions: [aSession({ bridgedBytes: 4_100_000 })] })).join('\n');
  expect(proxied).toContain('  used      4.1 MB through the test machine\n');
  const filmed = lines(aRecord({ sessions: [aSession({ pictureBytes: 2_000_000 })] })).join('\n');
  expect(filmed).toContain('  used      2.0 MB of pictures of pages\n');
  expect(lines(aRecord({}))[0]).toBe('poolwright: 0 tests on 0 hosted browsers');
});

test('counts connections, if the run was a command', () => {
  const sessions = ['a', 'b'].map((id) => aSession({ sessionId: id, tests: [aTest({ id })] }));
  const [headline, browsers] = lines(aRecord({ runner: 'exec', sessions }));
  expect(headline).toBe('poolwright: 2 connections on 2 hosted browsers');
  expect(browsers).toContain('1 connection each');
});

test('prints the summary as lines', () => {
  expect(lines(TROUBLED_RUN, { ...PIPE, notes: ['budget exceeded: x'] }).join('\n')).toBe(
    `poolwright: 6 tests on 2 hosted browsers
  browsers  1 from a pool, 1 created; 4 tests each; started in 2.3 s (median), 4.0 s (p95); waited 1.0 s (median), 2.0 s at most; 2 reconnects, 1 rollover
  tests     1 failed, 1 with a lost browser, 1 retry
  used      3.0 MB by the service, 1.1 MB observed in the tests' pages (1 without a figure); 7 cents by the workspace's balance (workspace total)
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
  files     timeline.html, run.json`,
  );
});

test('prints a small run that passes in at most four lines, whatever its browsers are', () => {
  const session = aSession({
    source: 'pool',
    roundTripMs: 98,
    waitMs: 700,
    bandwidthBytes: 9_000,
    observedBytes: 8_000,
    bridgedBytes: 7_000,
    tests: [aTest({ id: 'a' }), aTest({ id: 'b' }), aTest({ id: 'c' })],
  });
  const record = aRecord({ sessions: [session], balance: { startCents: 9, endCents: 8 } });
  expect(lines(record)).toEqual([
    'poolwright: 3 tests on 1 hosted browser',
    '  browsers  1 from a pool; started in 2.0 s; waited 0.7 s; 98 ms per round trip',
    "  used      9.0 kB by the service, 8.0 kB observed in the tests' pages; 7.0 kB through the test machine; 1 cent by the workspace's balance (workspace total)",
    '  files     timeline.html, run.json',
  ]);
  const [one, two] = [session, { ...session, source: 'session' as const, tests: [] }];
  expect(lines(aRecord({ sessions: [one, two] }))).toHaveLength(4);
});

test('fits a narrow terminal: cuts test names, and wraps everything else', () => {
  const shown = lines(TROUBLED_RUN, { files: {}, sheet: new Sheet({ width: 60 }), notes: ['budget exceeded: x'] });
  expect(shown.filter((line) => line.length > 60)).toEqual([]);
  expect(shown).toContain('  slowest   16.0 s  [us] a.spec.ts:3 › a test');
  expect(shown.join('\n')).toContain(
    `  used      3.0 MB by the service, 1.1 MB observed in the
            tests' pages (1 without a figure); 7 cents by
            the workspace's balance (workspace total)
`,
  );
  const narrow = lines(TROUBLED_RUN, { files: {}, sheet: new Sheet({ width: 36 }) });
  expect(narrow).toContain('  slowest   16.0 s  [us] a.spec.ts:…');
  // A command to copy stays in one line, regardless of its length.
  expect(narrow).toContain('    npx poolwright sessions stop two');
});

test('uses colors on a terminal, and respects NO_COLOR and FORCE_COLOR', () => {
  const colored = (isTTY: boolean, environment: NodeJS.ProcessEnv) =>
    lines(TROUBLED_RUN, { files: {}, sheet: Sheet.of({ isTTY, columns: 100 }, environment) })
      .join('\n')
      .includes('\u001b[');
  expect(colored(true, { TERM: 'xterm-256color' })).toBe(true);
  expect(colored(true, { TERM: 'xterm-256color', NO_COLOR: '1' })).toBe(false);
  expect(colored(true, { TERM: 'dumb' })).toBe(false);
  expect(colored(false, { TERM: 'xterm-256color' })).toBe(false);
  expect(colored(false, { FORCE_COLOR: '1' })).toBe(true);
  expect(colored(true, { TERM: 'xterm-256color', FORCE_COLOR: '0' })).toBe(false);
});

test('shows no cost and no distance on the emulator', () => {
  const far = aSession({ roundTripMs: 10 });
  const record = aRecord({ sessions: [far], balance: { startCents: 9, endCents: 8 } });
  expect(lines(record).join('\n')).toMatch(/10 ms per round trip\n.*used {6}1 cent by/s);
  expect(lines({ ...record, service: 'emulator' }).join('\n')).not.toMatch(/cent|round trip/);
});

test('names no kind of browser that the record does not contain', () => {
  expect(lines(aRecord({ service: null }))[0]).toBe('poolwright: 0 tests on 0 browsers');
  expect(lines(aRecord({ service: 'emulator' }))[0]).toBe('poolwright: 0 tests on 0 emulated browsers');
});

test('limits the number of printed failures', () => {
  const infrastructureFailures = Array.from({ length: 30 }, (_, n) => `failure ${n}`);
  const shown = lines(aRecord({ sessions: [aSession({ infrastructureFailures })] }));
  expect(shown.filter((line) => line.includes('browser lost'))).toHaveLength(10);
  expect(shown.join('\n')).toContain('… and 20 more, in the record');
});

const budgets: [string, Parameters<typeof checkBudget>[1], string[]][] = [
  ['kept', { bandwidthMB: 3.205, sessions: 2, costCents: 7 }, []],
  ['none', {}, []],
  // The second session has no figure of the service, so the bytes of its tests count.
  ['bandwidth', { bandwidthMB: 3.2 }, ['budget exceeded: bandwidthMB is limited to 3.2, but the run used 3.203 MB']],
  ['sessions', { sessions: 1 }, ['budget exceeded: sessions is limited to 1, but the run used 2 browsers']],
  ['cost', { costCents: 6 }, ['budget exceeded: costCents is limited to 6, but the run used 7 cents']],
  [
    'all at once',
    { bandwidthMB: 0, sessions: 0, costCents: 0 },
    [
      'budget exceeded: bandwidthMB is limited to 0, but the run used 3.203 MB',
      'budget exceeded: sessions is limited to 0, but the run used 2 browsers',
      'budget exceeded: costCents is limited to 0, but the run used 7 cents',
    ],
  ],
];
for (const [name, budget, exceeded] of budgets) {
  test(`budget: ${name}`, () =>
    expect(checkBudget(figuresOf(TROUBLED_RUN), budget)).toEqual({ exceeded, unknown: [] }));
}

test('budget: limits what goes through the test machine by itself', () => {
  const figures = figuresOf(aRecord({ sessions: [aSession({ bridgedBytes: 4_100_000, bandwidthBytes: 50_000 })] }));
  expect(checkBudget(figures, { bandwidthMB: 0.05, proxiedMB: 4.1 }).exceeded).toEqual([]);
  expect(checkBudget(figures, { bandwidthMB: 0.05, proxiedMB: 4 }).exceeded).toEqual([
    'budget exceeded: proxiedMB is limited to 4, but the run used 4.1 MB',
  ]);
});

test('budget: reports an unknown cost without failing', () => {
  expect(checkBudget(figuresOf(aRecord({})), { costCents: 0 })).toEqual({
    exceeded: [],
    unknown: ['budget costCents: not checked, because the service reports no cents'],
  });
});

test('formats figures for people', () => {
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

import { expect, test } from '@playwright/test';
import type { RunRecord } from '../../../../src/record/run-record.ts';
import { mergeRecords } from '../../../../src/record/shards/merge-records.ts';
import { type NamedRecord, pastRuns } from '../../../../src/report/advise/past/past-runs.ts';
import { runOf } from '../../../support/unit/advise/run-of.ts';
import { aRecord, at } from '../../../support/unit/records.ts';

/** Which records are complete runs, and the reasons to skip the others. */

const RUN = runOf([[0, 'us/a › 1', 1, 3]]);
const shard = (current: number, total: number, given: Partial<RunRecord> = {}) =>
  runOf([[0, `us/${current} › 1`, 1, 3]], { shard: { current, total }, startedAt: at(current / 10), ...given });

/** Sorts records that are named by their index. */
function sorted(...records: RunRecord[]) {
  const named = records.map((record, n): NamedRecord => ({ file: String(n), record }));
  const { runs, skipped } = pastRuns(named);
  return {
    runs: runs.map(({ files }) => files),
    skipped: Object.fromEntries(skipped.map(({ file, why }) => [file, why])),
  };
}

test('puts the newest run last, and uses a run given twice only once', () => {
  const older = { ...RUN, runId: 'older', startedAt: at(-50) };
  expect(sorted(RUN, older, RUN)).toEqual({ runs: [['1'], ['0']], skipped: { 2: 'it is from the same run as 0' } });
});

test('skips records that are not a complete run, with the reason', () => {
  const interrupted = runOf([[0, 'us/a › 1', 1, 3, { status: 'interrupted', ok: false }]], { runId: 'i' });
  const twice = runOf(
    [
      [0, 'us/a › 1', 1, 3],
      [0, 'us/a › 1', 4, 5],
    ],
    { runId: 't' },
  );
  expect(sorted({ ...RUN, endedAt: null }, interrupted, twice, aRecord({ runId: 'none' }))).toEqual({
    runs: [],
    skipped: {
      0: 'its end is not recorded: the run crashed or is still running',
      1: 'the run was interrupted, so not all of its tests ran',
      2: 'it contains the same tests more than once, like a UI mode session',
      3: 'none of its tests used a hosted browser',
    },
  });
});

test('does not take a try on two browsers for a repetition', () => {
  const [session] = RUN.sessions;
  const both = { ...RUN, sessions: RUN.sessions.flatMap((each) => [each, { ...each, sessionId: 'other' }]) };
  expect(session).toBeDefined();
  expect(sorted(both)).toEqual({ runs: [['0']], skipped: {} });
});

test('groups shards by run ID or by missing numbers, and skips incomplete sets', () => {
  const ci = (run: string, current: number, begin: number) => shard(current, 2, { runId: run, startedAt: at(begin) });
  expect(sorted(ci('b', 2, 100), ci('a', 1, 0), ci('b', 1, 101), ci('a', 2, 1))).toEqual({
    runs: [
      ['1', '3'],
      ['2', '0'],
    ],
    skipped: {},
  });
  // GitLab gives each job its own ID.
  expect(sorted(ci('job-1', 1, 0), ci('job-2', 2, 1))).toEqual({ runs: [['0', '1']], skipped: {} });
  expect(sorted(ci('a', 2, 0), ci('b', 1, 100), ci('b', 2, 99))).toEqual({
    runs: [['1', '2']],
    skipped: { 0: 'shard 1 of 2 of its run is missing' },
  });
  expect(sorted(shard(2, 4), shard(3, 4)).skipped).toEqual({
    0: 'shard 1, 4 of 4 of its run is missing',
    1: 'shard 1, 4 of 4 of its run is missing',
  });
});

test('splits merged shards, but not merged runs', () => {
  const merged = mergeRecords([shard(1, 2), shard(2, 2)]);
  expect(sorted(merged)).toEqual({ runs: [['0']], skipped: {} });
  const [run] = pastRuns([{ file: 'all', record: merged }]).runs;
  expect(run?.parts.map(({ shard: of, sessions }) => [of?.current, sessions.length])).toEqual([
    [1, 1],
    [2, 1],
  ]);
  expect(sorted(merged, shard(1, 2)).skipped).toEqual({ 1: 'it is from the same run as 0' });
  expect(sorted(mergeRecords([RUN, { ...RUN, runId: 'other' }])).skipped).toEqual({
    0: 'it was merged from several runs: pass the run.json of each run instead',
  });
  expect(sorted(mergeRecords([RUN])).runs).toEqual([['0']]);
});

test('splits a record from blobs by the shards of its sessions', () => {
  const [one, two] = [shard(1, 2), shard(2, 2)];
  const blobs = aRecord({
    runId: null,
    sessions: [one, two].flatMap(({ sessions, shard: of }) => sessions.map((session) => ({ ...session, shard: of }))),
  });
  const [run] = pastRuns([{ file: 'all', record: blobs }]).runs;
  expect(run?.parts.map(({ shard: of, startedAt, endedAt }) => [of?.current, startedAt, endedAt])).toEqual([
    [1, at(1), at(3)],
    [2, at(1), at(3)],
  ]);
});

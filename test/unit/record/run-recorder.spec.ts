import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base, expect } from '@playwright/test';
import { writeAtomically } from '../../../src/common/write-atomically.ts';
import { readRecord, recordText } from '../../../src/record/record-file.ts';
import type { RunRecord } from '../../../src/record/run-record.ts';
import { RunRecorder, type RunRecorderOptions } from '../../../src/record/run-recorder.ts';
import { FakeClock } from '../../support/unit/broker/fake-clock.ts';
import { aRecord, aSession, aTest } from '../../support/unit/records.ts';

/** The record of a run: during the run, after a crash, and when another broker continues it. */

interface Fixtures {
  directory: string;
  clock: FakeClock;
  recorder(given?: Partial<RunRecorderOptions>): RunRecorder;
}

const test = base.extend<Fixtures>({
  directory: async ({}, use) => {
    const directory = await mkdtemp(join(tmpdir(), 'poolwright-recorder-'));
    await use(directory);
    await rm(directory, { recursive: true });
  },
  clock: async ({}, use) => use(new FakeClock()),
  recorder: async ({ directory, clock }, use) => {
    await use(
      (given) =>
        new RunRecorder({
          runId: 'run-1',
          runner: 'playwright',
          service: 'hosted',
          chromiums: [],
          shard: { current: 1, total: 2 },
          recordDirectory: directory,
          onWriteError: (error) => {
            throw error;
          },
          clock,
          ...given,
        }),
    );
  },
});

const open = { endingAt: null, endedAt: null, endReason: null, endConfirmed: false };
const use = (id: string, bridgedBytes = 0, ...carriedOrigins: string[]) => ({
  sessionId: 'session-1',
  test: aTest({ id }),
  bridgedBytes,
  pictureBytes: 2 * bridgedBytes,
  carriedOrigins,
  roundTripMs: null,
});
const ids = (record: RunRecord | null) => record?.sessions.map(({ tests }) => tests.map(({ id }) => id));

test('writes a recent checkpoint during the run, and the final record at its end', async ({
  recorder,
  clock,
  directory,
}) => {
  const run = recorder();
  const session = aSession({ ...open });
  run.add(session);
  run.testUsed(use('first', 30, 'http://localhost:2'));
  expect(clock.timers, 'one write for both').toBe(1);
  expect(await readdir(directory)).toEqual([]);
  await clock.advance(2_000);
  await expect.poll(() => readRecord(directory)).toMatchObject({ runId: 'run-1', endedAt: null, balance: null });
  expect(readRecord(directory)?.sessions).toMatchObject([
    { testsServed: 1, observedBytes: 1_000, bridgedBytes: 30, pictureBytes: 60 },
  ]);

  run.testUsed(use('second', 12, 'http://localhost:1', 'http://localhost:2'));
  run.leaseFailed('out of credit');
  run.leaseFailed('out of credit');
  session.endConfirmed = true;
  const balance = { startCents: 9, endCents: 4 };
  const record = await run.end(balance);
  expect(record).toMatchObject({ shard: { current: 1, total: 2 }, leaseFailures: ['out of credit'], balance });
  expect(record.endedAt).toBe(new Date(clock.now()).toISOString());
  expect(record.sessions).toMatchObject([
    {
      testsServed: 2,
      bridgedBytes: 42,
      carriedOrigins: ['http://localhost:1', 'http://localhost:2'],
      endConfirmed: true,
    },
  ]);
  run.changed();
  expect(clock.timers).toBe(0);
  expect(readRecord(directory)).toEqual(record);
  expect(await readdir(directory)).toEqual(['run.json']);
});

test('writes nothing without a directory', async ({ recorder, clock, directory }) => {
  const run = recorder({ recordDirectory: null });
  run.add(aSession({}));
  await clock.advance(10_000);
  await run.end(null);
  expect(await readdir(directory)).toEqual([]);
});

test('reports a write error, and still returns the record', async ({ recorder, clock, directory }) => {
  const file = join(directory, 'no-directory');
  await writeAtomically(file, '');
  const said: unknown[] = [];
  const run = recorder({ recordDirectory: file, onWriteError: (error) => said.push(error) });
  run.add(aSession({}));
  await clock.advance(2_000);
  await expect.poll(() => said.map(String)).toEqual([expect.stringMatching(/EEXIST|ENOTDIR/)]);
  expect((await run.end(null)).sessions).toHaveLength(1);
});

test('continues the record of a crashed broker, and adds tests of its sessions', async ({ recorder, directory }) => {
  const before = aSession({ sessionId: 'over', tests: [aTest({ id: 'before' })] });
  const cut = aSession({ ...open, endConfirmed: false, tests: [aTest({ id: 'first' })] });
  const died = aRecord({ endedAt: null, sessions: [before, cut], leaseFailures: ['out of credit'] });
  await writeAtomically(join(directory, 'run.json'), recordText(died));

  const run = recorder();
  // Its worker does not know whether the crashed broker had recorded this.
  run.testUsed(use('first', 5));
  run.testUsed(use('second', 5));
  run.testUsed(use('second', 5));
  run.testUsed({ ...use('elsewhere'), sessionId: 'unknown' });
  run.add(aSession({ sessionId: 'new' }));
  run.leaseFailed('no pool');
  const record = await run.end({ startCents: 9, endCents: 4 });
  expect(record).toMatchObject({
    startedAt: died.startedAt,
    leaseFailures: ['out of credit', 'no pool'],
    balance: null, // it does not include what the crashed broker spent
  });
  expect(record.sessions.map(({ sessionId, endReason, endConfirmed }) => [sessionId, endReason, endConfirmed])).toEqual(
    [
      ['over', 'finished', true],
      ['session-1', 'broker-died', null],
      ['new', 'finished', true],
    ],
  );
  expect(ids(record)).toEqual([['before'], ['first', 'second'], []]);
  expect(record.sessions[1]).toMatchObject({ testsServed: 2, bridgedBytes: 5 });
});

test('loses nothing when a broker crashes between the final record and its response', async ({
  recorder,
  directory,
}) => {
  await writeAtomically(
    join(directory, 'run.json'),
    recordText(aRecord({ sessions: [aSession({ sessionId: 'over' })] })),
  );
  const record = await recorder({ isSuccessor: true }).end(null);
  expect(record.sessions).toMatchObject([{ sessionId: 'over', endReason: 'finished', endConfirmed: true }]);
});

for (const [name, given] of [
  ['another run', { runId: 'run-0', endedAt: null }],
  ['a run of this name that has ended', {}],
] as const) {
  test(`does not continue the record of ${name}`, async ({ recorder, directory }) => {
    await writeAtomically(join(directory, 'run.json'), recordText(aRecord({ ...given, sessions: [aSession({})] })));
    const record = await recorder().end({ startCents: 1, endCents: 1 });
    expect(record.sessions).toEqual([]);
    expect(record.balance).toEqual({ startCents: 1, endCents: 1 });
  });
}

test('counts a try again when UI mode repeats it', async ({ recorder }) => {
  const run = recorder();
  run.add(aSession({}));
  run.testUsed(use('again'));
  run.testUsed({ ...use('again'), test: aTest({ id: 'again', startedAt: '2026-03-01T11:00:00.000Z' }) });
  expect((await run.end(null)).sessions).toMatchObject([{ testsServed: 2, observedBytes: 2_000 }]);
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base, expect } from '@playwright/test';
import { withFigures } from '../../../src/record/figures.ts';
import { readRecords } from '../../../src/record/read-records.ts';
import { recordText } from '../../../src/record/record-file.ts';
import { runRecord } from '../../../src/record/run-record.ts';
import { withTotals } from '../../../src/record/session-record.ts';
import { mergeRecords } from '../../../src/record/shards/merge-records.ts';
import { aRecord, aSession, aTest, at } from '../../support/unit/records.ts';

const test = base.extend<{ directory: string }>({
  directory: async ({}, use) => {
    const directory = await mkdtemp(join(tmpdir(), 'poolwright-merge-'));
    await use(directory);
    await rm(directory, { recursive: true });
  },
});

const shard = (current: number) => ({ current, total: 2 });
const first = aRecord({
  shard: shard(1),
  sessions: [aSession({ sessionId: 'one' })],
  balance: { startCents: 50, endCents: 45 },
});
const second = aRecord({
  shard: shard(2),
  startedAt: at(2),
  endedAt: at(40),
  sessions: [aSession({ sessionId: 'two', shard: shard(2) })],
  leaseFailures: ['out of credit'],
  balance: { startCents: 49, endCents: 40 },
});

test('merges shards into one valid record', () => {
  const merged = mergeRecords([second, first]);
  expect(runRecord.parse(merged)).toEqual(merged);
  expect(merged).toMatchObject({
    runId: 'run-1',
    service: 'hosted',
    shard: null,
    startedAt: at(0),
    endedAt: at(40),
    leaseFailures: ['out of credit'],
    // From before the first to after the last run: both shards used one balance.
    balance: { startCents: 50, endCents: 40 },
  });
  expect(merged.sessions.map(({ sessionId, shard }) => [sessionId, shard?.current])).toEqual([
    ['two', 2],
    ['one', 1],
  ]);
  expect(merged.merged.map(({ shard }) => shard?.current)).toEqual([2, 1]);
});

test("sums up what the shards' tests moved", () => {
  const shards = [first, second].map((record, n) => {
    const test = aTest({ id: `test-${n}`, observedBytes: 10, proxiedBytes: 100, proxiedSentBytes: n });
    const sessions = record.sessions.map((session) => ({ ...session, bridgedBytes: 120, tests: [test] }));
    return { ...record, sessions: sessions.map(withTotals) };
  });
  const { figures } = withFigures(mergeRecords(shards));
  expect(figures).toMatchObject({ observedBytes: 20, proxiedBytes: 240, usedBytes: 20 });
  expect(figures.heaviest.map(({ proxiedBytes }) => proxiedBytes)).toEqual([100, 100]);
});

test('merges merged records by their runs, and drops values that one of them lacks', () => {
  const died = aRecord({ runId: 'run-2', service: 'emulator', endedAt: null, balance: null });
  const merged = mergeRecords([mergeRecords([first, second]), died]);
  expect(merged.merged.map(({ runId }) => runId)).toEqual(['run-1', 'run-1', 'run-2']);
  expect(merged).toMatchObject({ runId: null, service: 'hosted', endedAt: null, balance: null });
});

test('sums up the balances of embedded emulators', () => {
  const emulated = [first, second].map((record) => ({ ...record, service: 'emulator' as const }));
  expect(mergeRecords(emulated).balance).toEqual({ startCents: 99, endCents: 85 });
});

test('skips files that are not records, with a reason, and reads the others', async ({ directory }) => {
  const file = (name: string) => join(directory, name);
  const write = async (name: string, text: string) => await writeFile(file(name), text);
  await write('good.json', recordText(first));
  await write('same.json', recordText(first));
  await write('truncated.json', recordText(first).slice(0, 400));
  await write('empty.json', '');
  await write('version.json', recordText({ ...first, schema: 7 as 1 }));
  await write('other.json', '{"name":"package"}');
  await write('field.json', JSON.stringify({ ...first, sessions: [{ ...aSession({}), startedAt: 5 }] }));
  await write('also-good.json', recordText(second));
  const names = ['good', 'same', 'truncated', 'empty', 'version', 'other', 'field', 'missing', 'also-good'];
  const { records, skipped } = readRecords([...names.map((name) => file(`${name}.json`)), directory]);
  expect(records).toEqual([first, second]);
  expect(skipped.map(({ file: name, why }) => `${name.slice(directory.length + 1)}: ${why}`)).toEqual([
    `same.json: it is from the same run as ${file('good.json')}`,
    'truncated.json: it is incomplete or not JSON',
    'empty.json: it is empty',
    'version.json: it has version 7, but this poolwright reads version 1',
    'other.json: it is not a run.json of poolwright (it has no `schema`)',
    'field.json: `sessions[0].startedAt`: must be a string, got 5',
    'missing.json: the file does not exist',
    expect.stringMatching(/^: it cannot be read \(EISDIR/),
  ]);
});

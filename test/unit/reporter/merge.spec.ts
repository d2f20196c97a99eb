import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base, expect } from '@playwright/test';
import { mergeRecords } from '../../../src/record/merge-records.ts';
import { readRecords } from '../../../src/record/read-records.ts';
import { recordText } from '../../../src/record/record-file.ts';
import { runRecord } from '../../../src/record/run-record.ts';
import { reportToGitHub } from '../../../src/reporter/summary/github.ts';
import { aRecord, aSession, aTest, at } from './records.ts';

const test = base.extend<{ folder: string }>({
  folder: async ({}, use) => {
    const folder = await mkdtemp(join(tmpdir(), 'poolwright-merge-'));
    await use(folder);
    await rm(folder, { recursive: true });
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

test('shards become one record, which is one of this version', () => {
  const merged = mergeRecords([second, first]);
  expect(runRecord.parse(merged)).toEqual(merged);
  expect(merged).toMatchObject({
    runId: 'run-1',
    service: 'hosted',
    shard: null,
    startedAt: at(0),
    endedAt: at(40),
    leaseFailures: ['out of credit'],
    // From before the first to after the last: both shards spent from one balance.
    balance: { startCents: 50, endCents: 40 },
  });
  expect(merged.sessions.map(({ sessionId, shard }) => [sessionId, shard?.current])).toEqual([
    ['two', 2],
    ['one', 1],
  ]);
  expect(merged.merged.map(({ shard }) => shard?.current)).toEqual([2, 1]);
});

test('a merged one is merged again as what it was made of; what is not known of one is not of all', () => {
  const died = aRecord({ runId: 'run-2', service: 'emulator', endedAt: null, balance: null });
  const merged = mergeRecords([mergeRecords([first, second]), died]);
  expect(merged.merged.map(({ runId }) => runId)).toEqual(['run-1', 'run-1', 'run-2']);
  expect(merged).toMatchObject({ runId: null, service: 'hosted', endedAt: null, balance: null });
});

test('embedded emulators have a balance each', () => {
  const emulated = [first, second].map((record) => ({ ...record, service: 'emulator' as const }));
  expect(mergeRecords(emulated).balance).toEqual({ startCents: 99, endCents: 85 });
});

test('files that are no record are named with the reason, and the rest is read', async ({ folder }) => {
  const file = (name: string) => join(folder, name);
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
  const { records, skipped } = readRecords([...names.map((name) => file(`${name}.json`)), folder]);
  expect(records).toEqual([first, second]);
  expect(skipped.map(({ file: name, why }) => `${name.slice(folder.length + 1)}: ${why}`)).toEqual([
    `same.json: it is of the same run as ${file('good.json')}`,
    'truncated.json: it is not whole, or no JSON',
    'empty.json: it is empty',
    'version.json: it is of version 7, and this poolwright reads version 1',
    'other.json: it is no run.json of poolwright (it has no `schema`)',
    expect.stringMatching(/^field\.json: its field sessions\.0\.startedAt is wrong \(.*string/),
    'missing.json: there is no such file',
    expect.stringMatching(/^: it cannot be read \(EISDIR/),
  ]);
});

test('GitHub: a summary in Markdown after what is there, a warning for what befell browsers, nothing elsewhere', async ({
  folder,
}) => {
  const file = join(folder, 'summary.md');
  await writeFile(file, 'of the step before\n');
  const failing = aTest({ title: 'a | b <script> `c` *d*', status: 'failed', ok: false });
  const record = aRecord({
    sessions: [aSession({ tests: [failing], infrastructureFailures: ['100% lost\nin two lines'] })],
  });
  expect(reportToGitHub(record, [], {})).toEqual([]);
  expect(reportToGitHub(record, [], { GITHUB_STEP_SUMMARY: file })).toEqual([]);
  const text = await readFile(file, 'utf8');
  expect(text).toMatch(/^of the step before\n### poolwright: 1 test on 1 hosted browser\n/);
  expect(text).toContain('| start | median 2.0 s, p95 2.0 s |');
  expect(text).toContain('- ⚠️ browser lost: 100% lost in two lines');
  expect(text).toContain('| 2.0 s | \\[us\\] a.spec.ts:3 › a \\| b &lt;script> \\`c\\` \\*d\\* |');
  // The test that failed is the test reporter's to tell.
  expect(reportToGitHub(record, ['budget exceeded: x'], { GITHUB_ACTIONS: 'true' })).toEqual([
    '::warning title=poolwright::browser lost: 100%25 lost%0Ain two lines',
    '::warning title=poolwright::budget exceeded: x',
  ]);
  const unwritable = reportToGitHub(record, [], { GITHUB_STEP_SUMMARY: join(folder, 'no', 'such') });
  expect(unwritable.join()).toMatch(/could not be added to GITHUB_STEP_SUMMARY: ENOENT/);
});

import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test as base, expect } from '@playwright/test';
import { SCHEMA_FILE, schemaText } from '../../../scripts/schema.mjs';
import { writeWhole } from '../../../src/common/write-whole.ts';
import { readRecord, recordText } from '../../../src/record/record-file.ts';
import { runRecord } from '../../../src/record/run-record.ts';
import { aRecord, aSession, aTest } from '../../support/unit/records.ts';

const test = base.extend<{ folder: string }>({
  folder: async ({}, use) => {
    const folder = await mkdtemp(join(tmpdir(), 'poolwright-record-'));
    await use(folder);
    await rm(folder, { recursive: true });
  },
});

test('the published JSON schema is that of the source: `npm run schema` writes it', async () => {
  const published = await readFile(resolve(import.meta.dirname, '../../..', SCHEMA_FILE), 'utf8');
  expect(published).toBe(schemaText(runRecord));
  expect(JSON.parse(published).properties.schema.const).toBe(1);
});

test('a record is read as it was written', async ({ folder }) => {
  const record = aRecord({ sessions: [aSession({ tests: [aTest({ retry: 1, status: 'timedOut', ok: false })] })] });
  await writeWhole(join(folder, 'run.json'), recordText(record));
  expect(readRecord(folder)).toEqual(record);
});

test('whoever reads while it is written sees a whole file, and nothing stays beside it', async ({ folder }) => {
  const file = join(folder, 'poolwright', 'run.json');
  const sessions = Array.from({ length: 300 }, (_, n) => aSession({ sessionId: `s${n}`, tests: [aTest({})] }));
  await writeWhole(file, recordText(aRecord({})));
  let writing = true;
  const writes = (async () => {
    for (let n = 0; n < 20; n += 1) await writeWhole(file, recordText(aRecord({ sessions: sessions.slice(n) })));
    writing = false;
  })();
  let reads = 0;
  while (writing) {
    expect(readRecord(join(folder, 'poolwright'))).not.toBeNull();
    reads += 1;
    await new Promise((done) => setImmediate(done));
  }
  await writes;
  expect(reads).toBeGreaterThan(1);
  expect(await readdir(join(folder, 'poolwright'))).toEqual(['run.json']);
});

test('a write that fails leaves the old file', async ({ folder }) => {
  const file = join(folder, 'run.json');
  await writeWhole(file, recordText(aRecord({ runId: 'before' })));
  await mkdir(`${file}.${process.pid}.tmp`); // what it would write beside cannot be opened
  await expect(writeWhole(file, recordText(aRecord({ runId: 'after' })))).rejects.toThrow(/EISDIR/);
  expect(readRecord(folder)?.runId).toBe('before');
});

test('another version is none of ours', async ({ folder }) => {
  await writeWhole(join(folder, 'run.json'), JSON.stringify({ ...aRecord({}), schema: 2 }));
  expect(readRecord(folder)).toBeNull();
});

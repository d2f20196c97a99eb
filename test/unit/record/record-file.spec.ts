import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test as base, expect } from '@playwright/test';
import { SCHEMA_FILE, schemaText } from '../../../scripts/schema.mjs';
import { writeAtomically } from '../../../src/common/write-atomically.ts';
import { readRecord, recordText } from '../../../src/record/record-file.ts';
import { runRecord, type TestRecord } from '../../../src/record/run-record.ts';
import { aRecord, aSession, aTest } from '../../support/unit/records.ts';

const test = base.extend<{ directory: string }>({
  directory: async ({}, use) => {
    const directory = await mkdtemp(join(tmpdir(), 'poolwright-record-'));
    await use(directory);
    await rm(directory, { recursive: true });
  },
});

test('publishes the JSON schema of the source (update it with `node scripts/schema.mjs`)', async () => {
  const published = await readFile(resolve(import.meta.dirname, '../../..', SCHEMA_FILE), 'utf8');
  expect(published).toBe(schemaText(runRecord));
  expect(JSON.parse(published).properties.schema.const).toBe(1);
});

test('reads a record unchanged', async ({ directory }) => {
  const record = aRecord({ sessions: [aSession({ tests: [aTest({ retry: 1, status: 'timedOut', ok: false })] })] });
  await writeAtomically(join(directory, 'run.json'), recordText(record));
  expect(readRecord(directory)).toEqual(record);
});

test('reads a record from before proxied bytes were counted per test: they are unknown', async ({ directory }) => {
  const { proxiedBytes: _, proxiedSentBytes: __, ...older } = aTest({});
  const text = recordText(aRecord({ sessions: [{ ...aSession({}), tests: [older as TestRecord] }] }));
  expect(text).not.toContain('proxied');
  await writeAtomically(join(directory, 'run.json'), text);
  const unknown = { proxiedBytes: null, proxiedSentBytes: null };
  expect(readRecord(directory)?.sessions[0]?.tests[0]).toEqual({ ...older, ...unknown });
});

test('never shows a partial file while it is written, and leaves no other file', async ({ directory }) => {
  const file = join(directory, 'poolwright', 'run.json');
  const sessions = Array.from({ length: 300 }, (_, n) => aSession({ sessionId: `s${n}`, tests: [aTest({})] }));
  await writeAtomically(file, recordText(aRecord({})));
  let writing = true;
  const writes = (async () => {
    for (let n = 0; n < 20; n += 1) await writeAtomically(file, recordText(aRecord({ sessions: sessions.slice(n) })));
    writing = false;
  })();
  let reads = 0;
  while (writing) {
    expect(readRecord(join(directory, 'poolwright'))).not.toBeNull();
    reads += 1;
    await new Promise((done) => setImmediate(done));
  }
  await writes;
  expect(reads).toBeGreaterThan(1);
  expect(await readdir(join(directory, 'poolwright'))).toEqual(['run.json']);
});

test('keeps the old file when a write fails', async ({ directory }) => {
  const file = join(directory, 'run.json');
  await writeAtomically(file, recordText(aRecord({ runId: 'before' })));
  await mkdir(`${file}.${process.pid}.tmp`); // makes its temporary file unwritable
  await expect(writeAtomically(file, recordText(aRecord({ runId: 'after' })))).rejects.toThrow(/EISDIR/);
  expect(readRecord(directory)?.runId).toBe('before');
});

test('rejects another version', async ({ directory }) => {
  await writeAtomically(join(directory, 'run.json'), JSON.stringify({ ...aRecord({}), schema: 2 }));
  expect(readRecord(directory)).toBeNull();
});

import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectToBroker } from '../../../../src/broker/rpc/client.ts';
import { writeAtomically } from '../../../../src/common/write-atomically.ts';
import { readRecord, recordText } from '../../../../src/record/record-file.ts';
import { runRecord } from '../../../../src/record/run-record.ts';
import { startedBroker } from '../../../support/unit/broker/started-broker.ts';
import { API_KEY, expect, json, test } from '../../../support/unit/http-service.ts';

/** The record of a finished run. */

test("the broker writes the record before it responds, and does not overwrite the run's later changes", async ({
  service,
}) => {
  service.handle(json(200, { sessions: [], balance_cents: 70 }));
  const directory = test.info().outputPath('record');
  const address = {
    address: join(tmpdir(), `finish-${randomBytes(4).toString('hex')}.sock`),
    token: 'token-0123',
  };
  const run = await startedBroker({
    ...address,
    runId: 'r1',
    runner: 'playwright',
    mark: 'm1',
    deadMarks: [],
    service: { kind: 'hosted', baseURL: service.baseURL, apiKey: API_KEY },
    startTimeoutMs: 20_000,
    recordDirectory: directory,
    workers: 1,
    shard: null,
    name: 'shop',
    suite: 'c0ffee',
    ledgerDirectory: null,
    overRuns: [],
    projects: [],
    debug: false,
  });
  const line = await connectToBroker(address, 'control');
  const record = await line.finish();
  expect(runRecord.parse(record)).toEqual(record);
  expect(record).toMatchObject({ runId: 'r1', balance: { startCents: 70, endCents: 70 } });
  expect(record.endedAt).not.toBeNull();
  expect(readRecord(directory)).toEqual(record);
  const ofRun = { ...record, leaseFailures: ['the run knows more'] };
  await writeAtomically(join(directory, 'run.json'), recordText(ofRun));
  line.close();
  await run.close();
  expect(readRecord(directory)).toEqual(ofRun);
});

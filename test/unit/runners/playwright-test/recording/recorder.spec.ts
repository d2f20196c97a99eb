import { expect, type TestInfo, test } from '@playwright/test';
import { hostedBrowserAttachment } from '../../../../../src/record/attachment.ts';
import { testRecord } from '../../../../../src/record/run-record.ts';
import { Recorder } from '../../../../../src/runners/playwright-test/recording/recorder.ts';
import { aTestInfo, FAILED, FakeConnection, FakeSink } from '../../../../support/unit/recorded-parts.ts';

/** Which test used which browser, from what a worker can observe. */

/** A test with one fixture around it. Returns the errors that were added, which precede the test's own. */
async function run(
  recorder: Recorder,
  sink: FakeSink,
  info: TestInfo,
  body: () => void,
  present: FakeConnection | null,
) {
  const own = info.errors.map(({ message }) => message);
  recorder.begin(info, present, false);
  body();
  await recorder.end(info, sink);
  const errors = info.errors.map(({ message }) => message);
  expect(errors.slice(errors.length - own.length)).toEqual(own);
  return errors.slice(0, errors.length - own.length);
}

test('counts a test from its first context on, with the same facts in record and attachment', async () => {
  const [recorder, sink] = [new Recorder(), new FakeSink()];
  sink.bandwidth = 5_000;
  const connection = new FakeConnection('s1', { leaseId: 'l1', poolId: 'p1', servedBy: 'node-1', reused: true });
  connection.loads(100);
  connection.proxies(10, 30);
  const info = aTestInfo();
  const added = await run(
    recorder,
    sink,
    info,
    () => {
      // Before its context: counts for no test.
      connection.loads(20);
      connection.proxies(1, 1);
      recorder.uses(connection);
      connection.works(300);
      connection.proxies(7, 50);
    },
    connection,
  );
  expect(added).toEqual([]);
  expect(sink.usages).toHaveLength(1);
  const [usage] = sink.usages;
  expect(usage).toMatchObject({ sessionId: 's1', bridgedBytes: 99 });
  expect(testRecord.parse(usage?.test)).toEqual({
    id: 'test-1',
    title: 'group › a test',
    file: 'tests/a.spec.ts',
    line: 3,
    project: 'us',
    parallelIndex: 1,
    retry: 0,
    status: 'passed',
    ok: true,
    startedAt: expect.any(String),
    endedAt: expect.any(String),
    observedBytes: 300,
    proxiedBytes: 57,
    proxiedSentBytes: 7,
    savedMs: 0,
    infrastructureFailure: null,
    evidence: null,
    holds: [],
  });
  const { project, parallelIndex, startedAt, endedAt, infrastructureFailure } = testRecord.parse(usage?.test);
  expect(info.attached.map((body) => hostedBrowserAttachment.parse(body))).toEqual([
    {
      ...{ schema: 1, sessionId: 's1', leaseId: 'l1', poolId: 'p1', servedBy: 'node-1', reused: true },
      ...{ project, parallelIndex, startedAt, endedAt, infrastructureFailure },
      ...{ observedBytes: 300, proxiedBytes: 57, proxiedSentBytes: 7 },
      ...{ workerIndex: 7, shard: { current: 1, total: 2 }, bandwidthBytes: 5_000 },
    },
  ]);
  expect(info.annotations).toEqual([{ type: 'hosted-browser', description: 's1' }]);
});

test('records nothing for a test without a browser', async () => {
  const [recorder, sink, connection] = [new Recorder(), new FakeSink(), new FakeConnection('s1')];
  const info = aTestInfo();
  await run(recorder, sink, info, () => connection.works(300), connection);
  await run(recorder, sink, aTestInfo(), () => undefined, null);
  expect([sink.usages, info.attached, info.annotations]).toEqual([[], [], []]);
});

test('begins and ends a test once when several fixtures run around it', async () => {
  const [recorder, sink, connection, info] = [new Recorder(), new FakeSink(), new FakeConnection('s1'), aTestInfo()];
  expect(recorder.testTimeout).toBeNull();
  recorder.begin(info, null, false);
  recorder.begin(info, null, false);
  expect([recorder.isRunning(info), recorder.testTimeout]).toEqual([true, 30_000]);
  recorder.uses(connection);
  connection.works(5);
  await recorder.end(info, sink);
  expect(info.attached).toEqual([]);
  connection.works(5);
  await recorder.end(info, sink);
  expect(sink.reports).toEqual([['s1', 10]]);
  expect([recorder.isRunning(info), recorder.testTimeout, info.attached.length]).toEqual([false, null, 1]);
});

test('counts the use of a beforeAll hook for the next test, and that of an afterAll hook for none', async () => {
  const [recorder, sink, connection, info] = [new Recorder(), new FakeSink(), new FakeConnection('s1'), aTestInfo()];
  info.duration = 0;
  await run(
    recorder,
    sink,
    info,
    () => {
      recorder.uses(connection);
      connection.works(70);
    },
    null,
  );
  expect(sink.usages).toEqual([]);
  recorder.begin(info, connection, false);
  info.duration = 9;
  connection.works(5);
  await recorder.end(info, sink);
  expect(sink.reports).toEqual([['s1', 75]]);
  await run(recorder, sink, info, () => connection.works(1_000), connection);
  expect(sink.usages).toHaveLength(1);
  expect(info.attached).toHaveLength(1);
});

test('records a failed beforeAll hook as its test, which never began', async () => {
  const [recorder, sink, connection] = [new Recorder(), new FakeSink(), new FakeConnection('s1')];
  const info = aTestInfo({ ...FAILED, duration: 0 });
  await run(recorder, sink, info, () => recorder.uses(connection), null);
  expect(sink.usages[0]?.test).toMatchObject({ status: 'failed', ok: false });
});

test('counts bytes for each test that shares a context, if it sent commands', async () => {
  const [recorder, sink, connection] = [new Recorder(), new FakeSink(), new FakeConnection('s1')];
  const shared = async (id: string, body: () => void) => {
    const info = aTestInfo({ testId: id });
    recorder.begin(info, connection, true);
    body();
    await recorder.end(info, sink);
    return info.attached.length;
  };
  connection.works(1_000);
  expect(await shared('reloads', () => connection.works(30))).toBe(1);
  expect(await shared('does something else', () => connection.loads(400))).toBe(0);
  connection.loads(7); // between two tests: counts for no test
  expect(
    await shared('also opens its own context', () => {
      connection.works(2);
      recorder.uses(connection);
      connection.works(3);
    }),
  ).toBe(1);
  expect(sink.reports).toEqual([
    ['s1', 30],
    ['s1', 5],
  ]);
});

test('counts a context that Playwright reuses from the start of the test', async () => {
  const [recorder, sink, connection] = [new Recorder(), new FakeSink(), new FakeConnection('s1')];
  connection.works(100);
  const first = aTestInfo({ testId: 'first' });
  recorder.begin(first, connection, false);
  connection.works(20);
  recorder.mayHaveUsed(connection);
  await recorder.end(first, sink);
  const idle = aTestInfo({ testId: 'idle' });
  recorder.begin(idle, connection, false);
  recorder.mayHaveUsed(connection);
  await recorder.end(idle, sink);
  // The browser was leased during the test, so all its bytes belong to the test.
  const other = new FakeConnection('s2');
  const second = aTestInfo({ testId: 'second' });
  recorder.begin(second, null, false);
  other.works(8);
  recorder.mayHaveUsed(other);
  await recorder.end(second, sink);
  expect(sink.reports).toEqual([
    ['s1', 20],
    ['s2', 8],
  ]);
});

test('records a test with both of its browsers, and attaches the last one with the sum', async () => {
  const [recorder, sink, info] = [new Recorder(), new FakeSink(), aTestInfo()];
  const [first, second] = [new FakeConnection('s1'), new FakeConnection('s2')];
  await run(
    recorder,
    sink,
    info,
    () => {
      recorder.uses(first);
      first.works(10);
      recorder.uses(second);
      second.works(200);
      recorder.uses(first);
      first.works(1);
    },
    null,
  );
  expect(sink.reports).toEqual([
    ['s1', 11],
    ['s2', 200],
  ]);
  expect(info.attached).toMatchObject([{ sessionId: 's2', observedBytes: 211 }]);
});

test("explains a lost browser in the first error of a failed test, with the session's status", async () => {
  const [recorder, sink] = [new Recorder(), new FakeSink()];
  const [lost, fresh] = [new FakeConnection('s1'), new FakeConnection('s2')];
  const both = () => {
    recorder.uses(lost);
    lost.breaks();
    recorder.uses(fresh);
  };
  const failing = aTestInfo(FAILED);
  const added = await run(recorder, sink, failing, both, null);
  const why = 'session s1 was lost (its link closed; status "error" at the service): the browser crashed';
  expect(added).toEqual([expect.stringContaining(why)]);
  expect(sink.usages.map(({ test: { infrastructureFailure } }) => infrastructureFailure)).toEqual([why, null]);
  expect(failing.attached).toMatchObject([{ sessionId: 's2', infrastructureFailure: why }]);

  const passing = aTestInfo({ testId: 'passes' });
  expect(await run(recorder, sink, passing, both, null), 'it had done its work before').toEqual([]);
  expect(passing.attached).toMatchObject([{ infrastructureFailure: why }]);
});

test("has no bytes without metering, and asks for the service's figure once per session", async () => {
  const [recorder, sink, connection] = [new Recorder(), new FakeSink(), new FakeConnection('s1')];
  connection.bytes = null;
  const used = async (of: FakeConnection) => {
    const info = aTestInfo();
    await run(recorder, sink, info, () => recorder.uses(of), of);
    return info.attached[0];
  };
  expect(await used(connection)).toMatchObject({ observedBytes: null, bandwidthBytes: null });
  sink.bandwidth = 9;
  expect(await used(connection)).toMatchObject({ bandwidthBytes: null });
  expect(sink.asked).toEqual(['s1']);
  const other = new FakeConnection('s2');
  expect(await used(other)).toMatchObject({ observedBytes: 0, bandwidthBytes: 9 });
  expect(await used(other)).toMatchObject({ bandwidthBytes: 9 });
  expect(sink.asked).toEqual(['s1', 's2', 's2']);
});

test('explains an unreachable address in the first error of a failed test', async () => {
  const [recorder, sink, connection] = [new Recorder(), new FakeSink(), new FakeConnection('s1')];
  connection.origins = ['http://localhost:2'];
  const body = () => {
    recorder.uses(connection);
    for (const text of ['one was not reached', 'one was not reached', 'nor another']) recorder.addUnreachable(text);
  };
  const added = await run(recorder, sink, aTestInfo(FAILED), body, null);
  expect(added).toEqual(['PoolwrightError [NOT_CARRIED]: one was not reached\nnor another']);
  expect(sink.usages[0]?.carriedOrigins).toEqual(['http://localhost:2']);
  expect(await run(recorder, sink, aTestInfo({ testId: 'passes' }), body, null)).toEqual([]);
  const next = aTestInfo({ ...FAILED, testId: 'next' });
  expect(await run(recorder, sink, next, () => recorder.uses(connection), null), "another test's").toEqual([]);
});

test('reports bytes through the test machine and of pictures once', async () => {
  const [recorder, sink, connection] = [new Recorder(), new FakeSink(), new FakeConnection('s1')];
  for (const more of [100, 0, 150]) {
    connection.proxies(more / 2, more / 2);
    connection.screencast.count(2 * more);
    await run(recorder, sink, aTestInfo(), () => recorder.uses(connection), connection);
  }
  expect(sink.usages.map(({ bridgedBytes }) => bridgedBytes)).toEqual([100, 0, 150]);
  expect(sink.usages.map(({ pictureBytes }) => pictureBytes)).toEqual([200, 0, 300]);
});

test('attaches the record without a broker', async () => {
  const [recorder, sink, connection] = [new Recorder(), new FakeSink(), new FakeConnection('s1')];
  sink.gone = true;
  const info = aTestInfo(FAILED);
  const added = await run(
    recorder,
    sink,
    info,
    () => {
      recorder.uses(connection);
      connection.works(3);
      connection.breaks();
    },
    null,
  );
  expect(added).toEqual([expect.stringContaining('status at the service unknown')]);
  expect(info.attached).toMatchObject([{ sessionId: 's1', observedBytes: 3, bandwidthBytes: null }]);
});

test('records a test once that timed out before its fixtures ended, when its worker ends', async () => {
  const [recorder, sink, connection] = [new Recorder(), new FakeSink(), new FakeConnection('s1')];
  const stuck = aTestInfo({ ...FAILED, status: 'timedOut' });
  recorder.begin(stuck, null, false);
  recorder.uses(connection);
  connection.works(6);
  await recorder.endUnfinished(sink);
  await recorder.endUnfinished(sink);
  expect(sink.reports).toEqual([['s1', 6]]);
  expect(stuck.attached).toHaveLength(1);

  // Without an error, it is still running and closes the browser itself.
  const running = aTestInfo({ testId: 'running' });
  recorder.begin(running, null, false);
  recorder.uses(connection);
  await recorder.endUnfinished(sink);
  expect(running.attached).toEqual([]);
  // A test without a browser has no record.
  const without = aTestInfo({ ...FAILED, testId: 'without' });
  recorder.begin(without, null, false);
  await recorder.endUnfinished(sink);
  expect(without.attached).toEqual([]);
});

test('takes a test with an error but no final status for failed', async () => {
  const [recorder, sink, connection] = [new Recorder(), new FakeSink(), new FakeConnection('s1')];
  for (const given of [{ status: undefined }, { ...FAILED, status: undefined }] as Partial<TestInfo>[]) {
    await run(recorder, sink, aTestInfo(given), () => recorder.uses(connection), null);
  }
  expect(sink.usages.map(({ test: { status, ok } }) => [status, ok])).toEqual([
    ['passed', true],
    ['failed', false],
  ]);
});

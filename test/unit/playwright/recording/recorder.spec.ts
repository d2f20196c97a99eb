import { expect, type TestInfo, test } from '@playwright/test';
import { Recorder } from '../../../../src/playwright/recording/recorder.ts';
import { hostedBrowserAttachment } from '../../../../src/record/attachment.ts';
import { testRecord } from '../../../../src/record/run-record.ts';
import { aTestInfo, FAILED, FakeLink, FakeSink } from '../../../support/unit/recorded-parts.ts';

/** Which browser served which test, from what a worker sees of them. */

/** A test around which one fixture stands. */
async function run(recorder: Recorder, sink: FakeSink, info: TestInfo, body: () => void, present: FakeLink | null) {
  recorder.begin(info, present, false);
  body();
  return await recorder.end(info, sink);
}

test('a test counts from when it opens a context on; its record and its attachment tell the same', async () => {
  const [recorder, sink] = [new Recorder(), new FakeSink()];
  sink.bandwidth = 5_000;
  const link = new FakeLink('s1', { leaseId: 'l1', poolId: 'p1', servedBy: 'node-1', reused: true });
  link.loads(100);
  link.bridged = 40;
  const info = aTestInfo();
  const error = await run(
    recorder,
    sink,
    info,
    () => {
      link.loads(20); // before its context: of nobody
      recorder.uses(link);
      link.works(300);
    },
    link,
  );
  expect(error).toBeNull();
  expect(sink.usages).toHaveLength(1);
  const [usage] = sink.usages;
  expect(usage).toMatchObject({ sessionId: 's1', bridgedBytes: 40 });
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
    savedMs: 0,
    infrastructureFailure: null,
  });
  const { project, parallelIndex, startedAt, endedAt, observedBytes, infrastructureFailure } = testRecord.parse(
    usage?.test,
  );
  expect(info.attached.map((body) => hostedBrowserAttachment.parse(body))).toEqual([
    {
      ...{ schema: 1, sessionId: 's1', leaseId: 'l1', poolId: 'p1', servedBy: 'node-1', reused: true },
      ...{ project, parallelIndex, startedAt, endedAt, observedBytes, infrastructureFailure },
      ...{ workerIndex: 7, shard: { current: 1, total: 2 }, bandwidthBytes: 5_000 },
    },
  ]);
  expect(info.annotations).toEqual([{ type: 'hosted-browser', description: 's1' }]);
});

test('a test without a browser leaves nothing, whatever the browser of the one before it does', async () => {
  const [recorder, sink, link] = [new Recorder(), new FakeSink(), new FakeLink('s1')];
  const info = aTestInfo();
  await run(recorder, sink, info, () => link.works(300), link);
  await run(recorder, sink, aTestInfo(), () => undefined, null);
  expect([sink.usages, info.attached, info.annotations]).toEqual([[], [], []]);
});

test('several fixtures begin a test once and end it once, when the outermost one is over', async () => {
  const [recorder, sink, link, info] = [new Recorder(), new FakeSink(), new FakeLink('s1'), aTestInfo()];
  expect(recorder.testTimeout).toBeNull();
  recorder.begin(info, null, false);
  recorder.begin(info, null, false);
  expect([recorder.isRunning(info), recorder.testTimeout]).toEqual([true, 30_000]);
  recorder.uses(link);
  link.works(5);
  await recorder.end(info, sink);
  expect(info.attached).toEqual([]);
  link.works(5);
  await recorder.end(info, sink);
  expect(sink.told).toEqual([['s1', 10]]);
  expect([recorder.isRunning(info), recorder.testTimeout, info.attached.length]).toEqual([false, null, 1]);
});

test('what a beforeAll hook uses counts for the test after it, and an afterAll hook for nobody', async () => {
  const [recorder, sink, link, info] = [new Recorder(), new FakeSink(), new FakeLink('s1'), aTestInfo()];
  info.duration = 0;
  await run(
    recorder,
    sink,
    info,
    () => {
      recorder.uses(link);
      link.works(70);
    },
    null,
  );
  expect(sink.usages).toEqual([]);
  recorder.begin(info, link, false);
  info.duration = 9;
  link.works(5);
  await recorder.end(info, sink);
  expect(sink.told).toEqual([['s1', 75]]);
  await run(recorder, sink, info, () => link.works(1_000), link);
  expect(sink.usages).toHaveLength(1);
  expect(info.attached).toHaveLength(1);
});

test('a beforeAll hook that fails is its test, whose own time never began', async () => {
  const [recorder, sink, link] = [new Recorder(), new FakeSink(), new FakeLink('s1')];
  const info = aTestInfo({ ...FAILED, duration: 0 });
  await run(recorder, sink, info, () => recorder.uses(link), null);
  expect(sink.usages[0]?.test).toMatchObject({ status: 'failed', ok: false });
});

test('of tests that share a context, each counts what came from its beginning on, if it gave the browser anything to do', async () => {
  const [recorder, sink, link] = [new Recorder(), new FakeSink(), new FakeLink('s1')];
  const shared = async (id: string, body: () => void) => {
    const info = aTestInfo({ testId: id });
    recorder.begin(info, link, true);
    body();
    await recorder.end(info, sink);
    return info.attached.length;
  };
  link.works(1_000);
  expect(await shared('reloads', () => link.works(30))).toBe(1);
  expect(await shared('does something else', () => link.loads(400))).toBe(0);
  link.loads(7); // between two tests: of nobody
  expect(
    await shared('opens a context of its own, too', () => {
      link.works(2);
      recorder.uses(link);
      link.works(3);
    }),
  ).toBe(1);
  expect(sink.told).toEqual([
    ['s1', 30],
    ['s1', 5],
  ]);
});

test("a context that Playwright reuses past the handle is the test's from its beginning on", async () => {
  const [recorder, sink, link] = [new Recorder(), new FakeSink(), new FakeLink('s1')];
  link.works(100);
  const first = aTestInfo({ testId: 'first' });
  recorder.begin(first, link, false);
  link.works(20);
  recorder.mayHaveUsed(link);
  await recorder.end(first, sink);
  const idle = aTestInfo({ testId: 'idle' });
  recorder.begin(idle, link, false);
  recorder.mayHaveUsed(link);
  await recorder.end(idle, sink);
  // The browser came while the test ran: all that it moved is the test's.
  const other = new FakeLink('s2');
  const second = aTestInfo({ testId: 'second' });
  recorder.begin(second, null, false);
  other.works(8);
  recorder.mayHaveUsed(other);
  await recorder.end(second, sink);
  expect(sink.told).toEqual([
    ['s1', 20],
    ['s2', 8],
  ]);
});

test('a test that changes its browser is on record with both, and attaches the last one and the sum', async () => {
  const [recorder, sink, info] = [new Recorder(), new FakeSink(), aTestInfo()];
  const [first, second] = [new FakeLink('s1'), new FakeLink('s2')];
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
  expect(sink.told).toEqual([
    ['s1', 11],
    ['s2', 200],
  ]);
  expect(info.attached).toMatchObject([{ sessionId: 's2', observedBytes: 211 }]);
});

test('a test that fails after it has lost its browser is told so, with the session as the service has it', async () => {
  const [recorder, sink] = [new Recorder(), new FakeSink()];
  const [lost, fresh] = [new FakeLink('s1'), new FakeLink('s2')];
  const both = () => {
    recorder.uses(lost);
    lost.breaks();
    recorder.uses(fresh);
  };
  const failing = aTestInfo(FAILED);
  const error = await run(recorder, sink, failing, both, null);
  const why = 'session s1 was lost (its link closed; status "error" at the service): the browser crashed';
  expect(error).toMatchObject({ code: 'BROWSER_LOST', sessionId: 's1', message: expect.stringContaining(why) });
  expect(sink.usages.map(({ test: { infrastructureFailure } }) => infrastructureFailure)).toEqual([why, null]);
  expect(failing.attached).toMatchObject([{ sessionId: 's2', infrastructureFailure: why }]);

  const passing = aTestInfo({ testId: 'passes' });
  expect(await run(recorder, sink, passing, both, null), 'it had done its work before').toBeNull();
  expect(passing.attached).toMatchObject([{ infrastructureFailure: why }]);
});

test('without metering no bytes are known, and of a service without a figure it is asked once a session', async () => {
  const [recorder, sink, link] = [new Recorder(), new FakeSink(), new FakeLink('s1')];
  link.bytes = null;
  const used = async (of: FakeLink) => {
    const info = aTestInfo();
    await run(recorder, sink, info, () => recorder.uses(of), of);
    return info.attached[0];
  };
  expect(await used(link)).toMatchObject({ observedBytes: null, bandwidthBytes: null });
  sink.bandwidth = 9;
  expect(await used(link)).toMatchObject({ bandwidthBytes: null });
  expect(sink.asked).toEqual(['s1']);
  const other = new FakeLink('s2');
  expect(await used(other)).toMatchObject({ observedBytes: 0, bandwidthBytes: 9 });
  expect(await used(other)).toMatchObject({ bandwidthBytes: 9 });
  expect(sink.asked).toEqual(['s1', 's2', 's2']);
});

test('a test that fails, and did not reach something of this machine, is told what to set', async () => {
  const [recorder, sink, link] = [new Recorder(), new FakeSink(), new FakeLink('s1')];
  link.origins = ['http://localhost:2'];
  const body = () => {
    recorder.uses(link);
    for (const text of ['one was not reached', 'one was not reached', 'nor another']) recorder.unreached(text);
  };
  const error = await run(recorder, sink, aTestInfo(FAILED), body, null);
  expect(error).toMatchObject({ code: 'NOT_CARRIED', message: 'one was not reached\nnor another' });
  expect(sink.usages[0]?.carriedOrigins).toEqual(['http://localhost:2']);
  expect(await run(recorder, sink, aTestInfo({ testId: 'passes' }), body, null)).toBeNull();
  const next = aTestInfo({ ...FAILED, testId: 'next' });
  expect(await run(recorder, sink, next, () => recorder.uses(link), null), "another test's").toBeNull();
});

test('what crosses the test machine is told once', async () => {
  const [recorder, sink, link] = [new Recorder(), new FakeSink(), new FakeLink('s1')];
  for (const bridged of [100, 100, 250]) {
    link.bridged = bridged;
    await run(recorder, sink, aTestInfo(), () => recorder.uses(link), link);
  }
  expect(sink.usages.map(({ bridgedBytes }) => bridgedBytes)).toEqual([100, 0, 150]);
});

test('without its broker a test still has its attachment', async () => {
  const [recorder, sink, link] = [new Recorder(), new FakeSink(), new FakeLink('s1')];
  sink.gone = true;
  const info = aTestInfo(FAILED);
  const error = await run(
    recorder,
    sink,
    info,
    () => {
      recorder.uses(link);
      link.works(3);
      link.breaks();
    },
    null,
  );
  expect(error?.message).toContain('its status at the service is not known');
  expect(info.attached).toMatchObject([{ sessionId: 's1', observedBytes: 3, bandwidthBytes: null }]);
});

test('a test whose time was over before its fixtures could end is put on record as its worker ends, and once', async () => {
  const [recorder, sink, link] = [new Recorder(), new FakeSink(), new FakeLink('s1')];
  const stuck = aTestInfo({ ...FAILED, status: 'timedOut' });
  recorder.begin(stuck, null, false);
  recorder.uses(link);
  link.works(6);
  await recorder.endUnfinished(sink);
  await recorder.endUnfinished(sink);
  expect(sink.told).toEqual([['s1', 6]]);
  expect(stuck.attached).toHaveLength(1);

  // Without an error it closes the browser itself, and goes on.
  const running = aTestInfo({ testId: 'running' });
  recorder.begin(running, null, false);
  recorder.uses(link);
  await recorder.endUnfinished(sink);
  expect(running.attached).toEqual([]);
  // One that used no browser has nothing to tell.
  const without = aTestInfo({ ...FAILED, testId: 'without' });
  recorder.begin(without, null, false);
  await recorder.endUnfinished(sink);
  expect(without.attached).toEqual([]);
});

test('a test without a final status has failed when it has an error', async () => {
  const [recorder, sink, link] = [new Recorder(), new FakeSink(), new FakeLink('s1')];
  for (const given of [{ status: undefined }, { ...FAILED, status: undefined }] as Partial<TestInfo>[]) {
    await run(recorder, sink, aTestInfo(given), () => recorder.uses(link), null);
  }
  expect(sink.usages.map(({ test: { status, ok } }) => [status, ok])).toEqual([
    ['passed', true],
    ['failed', false],
  ]);
});

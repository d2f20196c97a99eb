import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import type { FullConfig, FullResult, Suite } from '@playwright/test/reporter';
import { writeWhole } from '../../../src/common/write-whole.ts';
import { readRecord, recordText } from '../../../src/record/record-file.ts';
import PoolwrightReporter from '../../../src/reporter/index.ts';
import { runReporter } from '../../../src/reporter/reported.ts';
import { aRecord, aSession, aTest } from '../../support/unit/records.ts';
import { test } from '../../support/unit/reporter-fixtures.ts';
import { seen } from '../../support/unit/seen-tests.ts';

/** Where the reporter has its record from. The timeline's script is in the built package only, so none is written here. */

const PASSED = { status: 'passed' } as FullResult;
const HEADLINE = 'poolwright: 1 test on 1 hosted browser\n';

function begin(folder: string, reporter: PoolwrightReporter): PoolwrightReporter {
  const config = { rootDir: '/root', projects: [{ outputDir: folder }], reporter: [] };
  reporter.onBegin(config as unknown as FullConfig, { suites: [] as Suite[] } as Suite);
  return reporter;
}

const heard = aRecord({ sessions: [aSession({ tests: [aTest({ id: 'a' })] })] });
const statuses = (folder: string) =>
  readRecord(join(folder, 'poolwright'))?.sessions.map(({ tests }) => tests[0]?.status);

test('takes the record over from the teardown, completes it, writes it once, and tells of it in its turn', async ({
  folder,
  saidWhile,
}) => {
  const reporter = begin(folder, new PoolwrightReporter({ budget: { sessions: 0 } }));
  reporter.onTestEnd(...seen('a', { sessionId: 'session-1', status: 'timedOut' }));
  let taken: boolean | undefined;
  expect(
    await saidWhile(async () => {
      taken = await runReporter()?.take(heard);
    }),
  ).toBe('');
  expect(taken, 'so the broker does not write it').toBe(true);
  expect(statuses(folder)).toEqual(['timedOut']);

  // What lies there is not read again.
  await writeFile(join(folder, 'poolwright', 'run.json'), 'of somebody else');
  let result: Awaited<ReturnType<PoolwrightReporter['onEnd']>> = {};
  const said = await saidWhile(async () => {
    result = await reporter.onEnd(PASSED);
  });
  expect(said).toContain(HEADLINE);
  expect(said).toContain('budget exceeded: sessions may be 0');
  expect(result).toEqual({ status: 'failed' });
});

test('a clock that was set back since the run began costs nothing of its record', async ({ folder, saidWhile }) => {
  const reporter = begin(folder, new PoolwrightReporter());
  const startedAt = new Date(Date.now() - 25 * 60_000).toISOString();
  reporter.onTestEnd(...seen('a', { sessionId: 'session-1' }));
  expect(await runReporter()?.take({ ...heard, startedAt })).toBe(true);
  await saidWhile(() => reporter.onEnd(PASSED));
  const written = readRecord(join(folder, 'poolwright'));
  expect(written).toMatchObject({ startedAt, sessions: [{ waitMs: heard.sessions[0]?.waitMs, endConfirmed: true }] });
});

test('a record of a run that it has not seen begin is not its own to write', async ({ folder }) => {
  const reporter = new PoolwrightReporter();
  expect(await runReporter()?.take(heard)).toBe(false);
  expect(await reporter.onEnd(PASSED)).toEqual({});
  expect(readRecord(join(folder, 'poolwright'))).toBeNull();
});

test("a record that it cannot write is the broker's to write", async ({ folder }) => {
  await writeFile(join(folder, 'poolwright'), '');
  begin(folder, new PoolwrightReporter());
  expect(await runReporter()?.take(heard)).toBe(false);
});

test('after a broker that died, its last checkpoint is completed; one from before this run is not', async ({
  folder,
  saidWhile,
}) => {
  const checkpoint = async (startedAt: string) =>
    await writeWhole(
      join(folder, 'poolwright', 'run.json'),
      recordText({ ...heard, endedAt: null, runId: 'died', startedAt }),
    );
  await checkpoint('2020-01-01T00:00:00.000Z');
  const before = begin(folder, new PoolwrightReporter());
  expect(await saidWhile(() => before.onEnd(PASSED))).toBe('');

  const reporter = begin(folder, new PoolwrightReporter());
  await checkpoint(new Date(Date.now() + 1_000).toISOString());
  reporter.onTestEnd(...seen('a', { sessionId: 'session-1', status: 'failed' }));
  expect(await saidWhile(() => reporter.onEnd(PASSED))).toContain(HEADLINE);
  expect(readRecord(join(folder, 'poolwright'))).toMatchObject({ runId: 'died', endedAt: null });
  expect(statuses(folder)).toEqual(['failed']);
});

test('without any record it works from the attachments, and says nothing where there are none', async ({
  folder,
  saidWhile,
}) => {
  const reporter = begin(folder, new PoolwrightReporter());
  reporter.onTestEnd(...seen('without'));
  expect(await saidWhile(() => reporter.onEnd(PASSED))).toBe('');
  reporter.onTestEnd(...seen('a', { sessionId: 'session-1', observedBytes: 8 }));
  expect(await saidWhile(() => reporter.onEnd(PASSED))).toContain('poolwright: 1 test on 1 browser\n');
  expect(readRecord(join(folder, 'poolwright'))?.sessions).toMatchObject([{ testsServed: 1, observedBytes: 8 }]);
});

test('names the projects that stay on local browsers, of those that run', async ({ folder, saidWhile }) => {
  const project = (title: string, hosted: unknown) => ({
    title,
    suites: [],
    project: () => ({ use: { hosted }, dependencies: [] }),
  });
  const said = async (...suites: object[]) =>
    await saidWhile(() => {
      const config = { rootDir: '/root', projects: [{ name: '', outputDir: folder }], reporter: [] };
      new PoolwrightReporter().onBegin(config as unknown as FullConfig, { suites } as unknown as Suite);
    });
  const hosted = project('chromium', {});
  expect(await said(hosted, project('webkit', false), project('', false))).toBe(
    'poolwright: on local browsers: webkit, the default project\n',
  );
  expect(await said(hosted), '--project=chromium').toBe('');
  expect(await said(project('webkit', false)), '--project=webkit').toBe('');
});

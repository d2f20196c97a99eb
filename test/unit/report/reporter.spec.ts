import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import type { FullConfig, FullResult, Suite } from '@playwright/test/reporter';
import { writeAtomically } from '../../../src/common/write-atomically.ts';
import { readRecord, recordText } from '../../../src/record/record-file.ts';
import PoolwrightReporter from '../../../src/report/index.ts';
import { runReporter } from '../../../src/report/run-reporter.ts';
import { aRecord, aSession, aTest } from '../../support/unit/records.ts';
import { test } from '../../support/unit/reporter-fixtures.ts';
import { seen } from '../../support/unit/seen-tests.ts';

/**
 * The sources of the reporter's record. No timeline is written here, because its script exists only in the built
 * package.
 */

const PASSED = { status: 'passed' } as FullResult;
const HEADLINE = 'poolwright: 1 test on 1 hosted browser\n';

function begin(directory: string, reporter: PoolwrightReporter): PoolwrightReporter {
  const config = { rootDir: '/root', projects: [{ outputDir: directory }], reporter: [] };
  reporter.onBegin(config as unknown as FullConfig, { suites: [] as Suite[] } as Suite);
  return reporter;
}

const heard = aRecord({ sessions: [aSession({ tests: [aTest({ id: 'a' })] })] });
const statuses = (directory: string) =>
  readRecord(join(directory, 'poolwright'))?.sessions.map(({ tests }) => tests[0]?.status);

test('takes the record from the teardown, completes it, writes it once, and prints it in its turn', async ({
  directory,
  stderrOf,
}) => {
  const reporter = begin(directory, new PoolwrightReporter({ budget: { sessions: 0 } }));
  reporter.onTestEnd(...seen('a', { sessionId: 'session-1', status: 'timedOut' }));
  expect(await stderrOf(async () => await runReporter()?.take(heard))).toBe('');
  expect(statuses(directory)).toEqual(['timedOut']);

  // The file is not read again.
  await writeFile(join(directory, 'poolwright', 'run.json'), 'of somebody else');
  let result: Awaited<ReturnType<PoolwrightReporter['onEnd']>> = {};
  const output = await stderrOf(async () => {
    result = await reporter.onEnd(PASSED);
  });
  expect(output).toContain(HEADLINE);
  expect(output).toContain('budget exceeded: sessions is limited to 0');
  expect(result).toEqual({ status: 'failed' });
});

test('keeps the record when the clock is set back during the run', async ({ directory, stderrOf }) => {
  const reporter = begin(directory, new PoolwrightReporter());
  const startedAt = new Date(Date.now() - 25 * 60_000).toISOString();
  reporter.onTestEnd(...seen('a', { sessionId: 'session-1' }));
  await runReporter()?.take({ ...heard, startedAt });
  await stderrOf(() => reporter.onEnd(PASSED));
  const written = readRecord(join(directory, 'poolwright'));
  expect(written).toMatchObject({ startedAt, sessions: [{ waitMs: heard.sessions[0]?.waitMs, endConfirmed: true }] });
});

test('does not write the record of a run that it has not seen begin', async ({ directory }) => {
  const reporter = new PoolwrightReporter();
  await runReporter()?.take(heard);
  expect(await reporter.onEnd(PASSED)).toEqual({});
  expect(readRecord(join(directory, 'poolwright'))).toBeNull();
});

test('completes the last checkpoint of a crashed broker, but not one from before this run', async ({
  directory,
  stderrOf,
}) => {
  const checkpoint = async (startedAt: string) =>
    await writeAtomically(
      join(directory, 'poolwright', 'run.json'),
      recordText({ ...heard, endedAt: null, runId: 'died', startedAt }),
    );
  await checkpoint('2020-01-01T00:00:00.000Z');
  const before = begin(directory, new PoolwrightReporter());
  expect(await stderrOf(() => before.onEnd(PASSED))).toBe('');

  const reporter = begin(directory, new PoolwrightReporter());
  await checkpoint(new Date(Date.now() + 1_000).toISOString());
  reporter.onTestEnd(...seen('a', { sessionId: 'session-1', status: 'failed' }));
  expect(await stderrOf(() => reporter.onEnd(PASSED))).toContain(HEADLINE);
  expect(readRecord(join(directory, 'poolwright'))).toMatchObject({ runId: 'died', endedAt: null });
  expect(statuses(directory)).toEqual(['failed']);
});

test('uses the attachments without a record, and prints nothing without attachments', async ({
  directory,
  stderrOf,
}) => {
  const reporter = begin(directory, new PoolwrightReporter());
  reporter.onTestEnd(...seen('without'));
  expect(await stderrOf(() => reporter.onEnd(PASSED))).toBe('');
  reporter.onTestEnd(...seen('a', { sessionId: 'session-1', observedBytes: 8 }));
  expect(await stderrOf(() => reporter.onEnd(PASSED))).toContain('poolwright: 1 test on 1 browser\n');
  expect(readRecord(join(directory, 'poolwright'))?.sessions).toMatchObject([{ testsServed: 1, observedBytes: 8 }]);
});

test('lists the running projects that use local browsers', async ({ directory, stderrOf }) => {
  const project = (title: string, hosted: unknown) => ({
    title,
    suites: [],
    project: () => ({ use: { hosted }, dependencies: [] }),
  });
  const output = async (...suites: object[]) =>
    await stderrOf(() => {
      const config = { rootDir: '/root', projects: [{ name: '', outputDir: directory }], reporter: [] };
      new PoolwrightReporter().onBegin(config as unknown as FullConfig, { suites } as unknown as Suite);
    });
  const hosted = project('chromium', {});
  expect(await output(hosted, project('webkit', false), project('', false))).toBe(
    'poolwright: on local browsers: webkit, the default project\n',
  );
  expect(await output(hosted), '--project=chromium').toBe('');
  expect(await output(project('webkit', false)), '--project=webkit').toBe('poolwright: on local browsers: webkit\n');
});

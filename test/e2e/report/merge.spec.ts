import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { runRecord } from '../../../src/record/run-record.ts';
import type { Consumer } from '../../support/e2e/consumer.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { COMPILE_CACHE } from '../../support/e2e/run-command.ts';
import { runPlaywright } from '../../support/e2e/run-playwright.ts';
import type { TestService } from '../../support/e2e/service.ts';
import { suite, wrappedConfig } from '../../support/e2e/suites.ts';
import { poolwright } from '../../support/unit/cli/command-line.ts';

/** Merges shards of one suite from their `run.json`, and from their blobs. */

const CONFIG = wrappedConfig(`{ exposeNetwork: '' }`, 'retries: 1, outputDir: process.env.OUTPUT_DIR,').replace(
  "['json']",
  "['blob', { outputFile: process.env.BLOB }]",
);
const FILES = {
  'playwright.config.ts': CONFIG,
  'tests/a.spec.ts': suite(
    `test('in a', async ({ page }, { retry }) => { await page.goto('/'); expect(retry).toBe(1); });`,
  ),
  'tests/b.spec.ts': suite(`test('in b', async ({ page }) => { await page.goto('/'); });`),
};

async function runShards(consumer: Consumer, { env }: TestService, site: { url: string }): Promise<void> {
  await consumer.write(FILES);
  for (const shard of [1, 2]) {
    const own = { OUTPUT_DIR: `shard-${shard}`, BLOB: `blobs/report-${shard}.zip` };
    const run = await runPlaywright(consumer, [`--shard=${shard}/2`], { ...env, ...own, SITE_URL: site.url });
    expect(run.code, run.output).toBe(0);
  }
}

/** Returns the data in a timeline page. */
async function drawn(consumer: Consumer, file: string) {
  const page = await consumer.read(file);
  return JSON.parse(/<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page)?.[1] ?? '');
}

test('merge › joins shards by `poolwright report merge` and `playwright merge-reports`', {
  tag: ['@versions', '@slow'],
}, async ({ newConsumer, service, site }) => {
  const consumer = await newConsumer();
  await runShards(consumer, service, site);

  await test.step('poolwright report merge: one summary, one record, one timeline; what cannot be used is named', async () => {
    const whole = await consumer.read('shard-1/poolwright/run.json');
    await consumer.write({
      'half.json': whole.slice(0, 300),
      'next.json': whole.replace('"schema": 1', '"schema": 2'),
    });
    const good = ['shard-1/poolwright/run.json', 'shard-2/poolwright/run.json'];
    const merge = async (...args: string[]) =>
      await poolwright(
        ['report', 'merge', ...args],
        { GITHUB_STEP_SUMMARY: '', GITHUB_ACTIONS: '' },
        consumer.directory,
      );

    const merged = await merge('half.json', ...good, 'next.json', 'none.json', '--output', 'all', '--html', 'html');
    expect(merged.code, merged.stderr).toBe(0);
    expect(merged.stderr.trim().split('\n')).toEqual([
      'poolwright: skipped half.json: it is incomplete or not JSON',
      'poolwright: skipped next.json: it has version 2, but this poolwright reads version 1',
      'poolwright: skipped none.json: the file does not exist',
    ]);
    expect(merged.stdout).toContain('poolwright: 2 tests on 2 hosted browsers in 2 runs\n');
    expect(merged.stdout).toContain('  tests     1 retry\n');
    expect(merged.stdout).toContain('  files     all/timeline.html, all/run.json, all/timings.json\n');

    const record = runRecord.parse(JSON.parse(await consumer.read('all/run.json')));
    expect(record.sessions.map(({ shard, testsServed }) => [shard?.current, testsServed])).toEqual([
      [1, 2],
      [2, 1],
    ]);
    const data = await drawn(consumer, 'all/timeline.html');
    expect(data.shards).toEqual(['1/2', '2/2']);
    expect(data.tests).toHaveLength(3);
    expect(data.report).toBe('../html/index.html');

    const json = await merge(...good, 'none.json', '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({
      merged: 2,
      skipped: [{ file: 'none.json', why: 'the file does not exist' }],
      record: 'poolwright-report/run.json',
      figures: { tests: 2, retries: 1, sessions: 2 },
    });

    const alone = await merge(good[0] ?? '', '--output', 'alone');
    expect(alone).toMatchObject({ code: 0, stderr: 'poolwright: missing: shard 2 of 2\n' });
    const strict = await merge(good[0] ?? '', '--strict', '--output', 'alone', '--json');
    expect(strict).toMatchObject({ code: 1, stderr: 'poolwright: missing: shard 2 of 2\n' });
    expect(JSON.parse(strict.stdout)).toMatchObject({ merged: 1, missing: ['shard 2 of 2'] });
    expect((await merge(...good, 'none.json', '--strict')).code).toBe(1);
    expect(await merge(...good, '--strict')).toMatchObject({ code: 0, stderr: '' });

    const none = await merge('none.json', 'half.json', '--json');
    expect(none.code).toBe(2);
    const error = {
      code: 'OPTIONS_INVALID',
      message: expect.stringContaining('no valid file among none.json, half.json'),
    };
    expect(JSON.parse(none.stdout)).toMatchObject({ error });
    expect(none.stderr).toMatch(/^poolwright: skipped none\.json: .*\npoolwright: skipped half\.json: .*\n$/);
    expect((await merge()).code).toBe(2);
  });

  await test.step('playwright merge-reports --reporter=poolwright/reporter', async () => {
    const { stderr } = await promisify(execFile)(
      process.execPath,
      [consumer.playwrightCli, 'merge-reports', '--reporter=poolwright/reporter', 'blobs'],
      {
        cwd: consumer.directory,
        env: {
          PATH: process.env.PATH,
          NODE_OPTIONS: COMPILE_CACHE,
          GITHUB_STEP_SUMMARY: `${consumer.directory}/summary.md`,
        },
      },
    );
    // The attachments do not name the service.
    expect(stderr).toContain('poolwright: 2 tests on 2 browsers\n');
    expect(stderr).toContain('  tests     1 retry\n');
    expect(stderr).not.toMatch(/waited|start {5}/); // not in the attachments
    const [, directory] = /files {5}(.*)\/timeline\.html/.exec(stderr) ?? [];
    const record = runRecord.parse(JSON.parse(await consumer.read(`${directory}/run.json`)));
    const shards = [1, 2].map((current) => ({ current, total: 2 }));
    expect(record.sessions.map(({ shard }) => shard)).toEqual(shards);
    const tests = record.sessions.flatMap((session) => session.tests);
    expect(tests.map(({ title, retry, status, file }) => [title, retry, status, file])).toEqual([
      ['in a', 0, 'failed', 'a.spec.ts'],
      ['in a', 1, 'passed', 'a.spec.ts'],
      ['in b', 0, 'passed', 'b.spec.ts'],
    ]);
    for (const session of record.sessions) {
      expect(session.observedBytes).toBe(session.tests.reduce((sum, test) => sum + (test.observedBytes ?? 0), 0));
      expect(session.observedBytes).toBeGreaterThan(200_000);
    }
    expect((await drawn(consumer, `${directory}/timeline.html`)).shards).toEqual(['1/2', '2/2']);
    expect(await consumer.read('summary.md')).toContain('### poolwright: 2 tests on 2 browsers');
  });
});

import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, test } from '@playwright/test';

const skipped = (reason?: string) => ({
  status: 'skipped',
  annotations: reason === undefined ? [] : [{ type: 'skip', description: reason }],
});
const suite = (tests: object[], suites: object[] = []) => ({ specs: [{ tests }], suites });
const stats = { expected: 5, unexpected: 0, flaky: 0 };

for (const { suites, counts, errors = [], args, code, lines } of [
  { suites: [suite([])], counts: stats, args: ['--allow', 'none'], code: 0, lines: ['5 passed, 0 failed'] },
  {
    suites: [suite([skipped('needs root')], [suite([skipped('needs unshare'), skipped('needs unshare')])])],
    counts: stats,
    args: ['--allow', 'needs root', '--allow', 'needs unshare'],
    code: 0,
    lines: ['skipped: 2 needs unshare', 'skipped: 1 needs root', '5 passed, 0 failed, 3 skipped'],
  },
  {
    suites: [suite([skipped('needs root')]), suite([skipped('needs curl')])],
    counts: stats,
    args: ['--allow', 'needs root'],
    code: 1,
    lines: [
      'skipped: 1 needs root',
      'skipped: 1 needs curl, which counts as failed here',
      '5 passed, 1 failed, 2 skipped',
    ],
  },
  {
    suites: [suite([skipped()])],
    counts: stats,
    args: ['--allow', 'none'],
    code: 1,
    lines: ['skipped: 1 no reason, which counts as failed here', '5 passed, 1 failed, 1 skipped'],
  },
  { suites: [], counts: { expected: 5, unexpected: 1, flaky: 2 }, args: [], code: 1, lines: ['5 passed, 3 failed'] },
  { suites: [], counts: stats, errors: [{}], args: [], code: 1, lines: ['5 passed, 1 failed'] },
  { suites: [], counts: { ...stats, expected: 0 }, args: [], code: 1, lines: ['0 passed, 0 failed'] },
]) {
  test(`tests are counted, skipped ones by reason: ${lines.join(' · ')}, ${args.join(' ')}`, async ({}, testInfo) => {
    const file = testInfo.outputPath('results.json');
    await writeFile(file, JSON.stringify({ suites, stats: counts, errors }));
    const run = promisify(execFile)(process.execPath, ['scripts/tally.mjs', ...args, file]);
    const result = await run.then(({ stdout }) => ({ code: 0, stdout })).catch((error) => error);
    expect({ code: result.code, lines: result.stdout.trim().split('\n') }).toEqual({ code, lines });
  });
}

test('several reports are added up', async ({}, testInfo) => {
  const file = testInfo.outputPath('results.json');
  await writeFile(file, JSON.stringify({ suites: [], stats, errors: [] }));
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/tally.mjs', file, file]);
  expect(stdout).toBe('10 passed, 0 failed\n');
});

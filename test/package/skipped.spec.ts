import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, test } from '@playwright/test';

const skipped = (reason?: string) => ({
  status: 'skipped',
  annotations: reason === undefined ? [] : [{ type: 'skip', description: reason }],
});
const suite = (tests: object[], suites: object[] = []) => ({ specs: [{ tests }], suites });

for (const { suites, args, code, line } of [
  {
    suites: [suite([{ status: 'expected', annotations: [] }])],
    args: ['--allow', 'none'],
    code: 0,
    line: 'none skipped',
  },
  {
    suites: [suite([skipped('needs root')], [suite([skipped('needs unshare'), skipped('needs unshare')])])],
    args: ['--allow', 'needs root', '--allow', 'needs unshare'],
    code: 0,
    line: '3 skipped (2 needs unshare, 1 needs root)',
  },
  {
    suites: [suite([skipped('needs root')]), suite([skipped('needs curl')])],
    args: ['--allow', 'needs root'],
    code: 1,
    line: '2 skipped (1 needs root, 1 needs curl)',
  },
  { suites: [suite([skipped()])], args: ['--allow', 'none'], code: 1, line: '1 skipped (1 no reason)' },
  { suites: [suite([skipped()])], args: [], code: 0, line: '1 skipped (1 no reason)' },
]) {
  test(`skipped tests are counted by reason: ${line}, with ${args.join(' ') || 'any allowed'}`, async ({}, testInfo) => {
    const file = testInfo.outputPath('results.json');
    await writeFile(file, JSON.stringify({ suites }));
    const run = promisify(execFile)(process.execPath, ['scripts/skipped.mjs', ...args, file]);
    const result = await run.then(({ stdout }) => ({ code: 0, stdout })).catch((error) => error);
    expect({ code: result.code, line: result.stdout.trim() }).toEqual({ code, line });
  });
}

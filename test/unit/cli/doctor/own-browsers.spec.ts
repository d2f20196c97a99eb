import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { ownBrowsers } from '../../../../src/cli/doctor/own-browsers.ts';

test('doctor says which functions a provider lacks, and what that costs', async ({}, { outputDir }) => {
  await mkdir(outputDir, { recursive: true });
  const file = join(outputDir, 'browsers.mjs');
  const skipped = async () => ({ check: 'session', result: 'skipped', says: '' }) as const;
  await writeFile(file, 'export default { acquire() {}, release() {}, usage: async () => null };');
  const findings = await ownBrowsers({ kind: 'provider', file }, skipped);
  expect(findings.map(({ check, result }) => `${check} ${result}`)).toEqual([
    'browsers ok',
    'list warning',
    'limit warning',
    'session skipped',
  ]);
  expect(findings[1]?.says).toContain('the provider has no `list`: after a crash of this machine');
  const empty = join(outputDir, 'empty.mjs');
  await writeFile(empty, 'export default {};');
  const none = await ownBrowsers({ kind: 'provider', file: empty }, skipped);
  expect(none).toMatchObject([{ check: 'browsers', result: 'failed', code: 'OPTIONS_INVALID' }]);
});

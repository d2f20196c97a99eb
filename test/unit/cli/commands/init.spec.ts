import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { poolwright } from '../../../support/unit/cli/command-line.ts';
import { expect, manifest, test } from '../../../support/unit/init/project.ts';
import { ADDED, SUITE } from '../../../support/unit/init/suite.ts';

const FILES = { ...SUITE, 'package.json': manifest([]) };

test('init › shows the diff and exits 2 without a terminal, and 0 with --dry-run', async ({ project }) => {
  const { directory } = await project(FILES);
  const before = await readdir(directory);
  const asked = await poolwright(['init'], {}, directory);
  expect(asked.code).toBe(2);
  expect(asked.stdout).toContain(`+${ADDED}`);
  expect(asked.stderr).toBe(
    'poolwright: nothing was changed: without a terminal, init cannot ask. Add --yes to change the files.\n',
  );
  const dry = await poolwright(['init', '--dry-run'], {}, directory);
  expect({ code: dry.code, stderr: dry.stderr }).toEqual({ code: 0, stderr: '' });
  expect(dry.stdout).toMatch(/Nothing was changed\.\n$/);

  const json = await poolwright(['init', '--json'], {}, directory);
  expect(json.code).toBe(2);
  const { applied, changes, next } = JSON.parse(json.stdout);
  const files = changes.map(({ file, action }: { file: string; action: string }) => `${action} ${file}`);
  expect({ applied, files }).toEqual({
    applied: false,
    files: ['create playwright.hosted.config.ts', 'edit package.json', 'create .gitignore'],
  });
  expect(next).toContain('npm run test:hosted');
  expect(await readdir(directory)).toEqual(before);
});

test('init › exits 1 when lines are left to add by hand', async ({ project }) => {
  const text = 'export default { testDir: "./more" };\n';
  const { directory } = await project({ ...FILES, 'playwright.hosted.config.ts': text });
  const { code, stdout } = await poolwright(['init', '--yes', '--json'], {}, directory);
  expect(code).toBe(1);
  const { byHand } = JSON.parse(stdout);
  expect(byHand).toHaveLength(1);
  expect(byHand[0].lines.join('\n')).toContain('withHostedBrowsers(');
  expect(await readFile(join(directory, 'playwright.hosted.config.ts'), 'utf8')).toBe(text);
});

test('init › exits 2 for bad usage, and lists its flags with --help', async ({ project }) => {
  const { directory } = await project({ ...FILES, 'playwright.config.js': 'module.exports = {};' });
  const two = await poolwright(['init', '--json'], {}, directory);
  expect(two.code).toBe(2);
  expect(JSON.parse(two.stdout).error).toMatchObject({
    code: 'OPTIONS_INVALID',
    message: expect.stringContaining('--config'),
  });
  expect((await poolwright(['init', '--ci', 'jenkins'], {}, directory)).code).toBe(2);
  const help = await poolwright(['init', '--help'], {}, directory);
  expect(help.code).toBe(0);
  for (const flag of ['--config', '--runner', '--ci', '--dry-run', '--yes', '--json'])
    expect(help.stdout).toContain(flag);
});

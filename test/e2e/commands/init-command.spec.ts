import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Consumer } from '../../support/e2e/consumer.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { runCommand } from '../../support/e2e/run-command.ts';
import { CLI, poolwright } from '../../support/run-cli.ts';

/** `poolwright init` for a new user. */

const CONFIG = `import { defineConfig, devices } from '@playwright/test';

/** What is tested. */
export default defineConfig({
  testDir: './tests',
  reporter: 'line', // short
  projects: [{ name: 'chromium', use: { ...devices['Desktop Chrome'] } }],
});
`;
const SPEC = `import { expect, test } from '@playwright/test';
test('a page', async ({ page }) => {
  await page.setContent('<h1>hello</h1>');
  await expect(page.locator('h1')).toHaveText('hello');
});`;

/** A separate repository, because this one is not the user's. */
const suite = { '.git/HEAD': 'ref: refs/heads/main\n', 'playwright.config.ts': CONFIG, 'tests/a.spec.ts': SPEC };
const ADDED = 'export default withHostedBrowsers(config);';

// test/e2e/package/first-minutes.spec.ts runs the files that it writes.
for (const [extension, type] of [
  ['ts', 'commonjs'],
  ['ts', 'module'],
  ['mts', 'commonjs'],
  ['js', 'commonjs'],
  ['mjs', 'commonjs'],
  ['cjs', 'module'],
] as const) {
  test(`Playwright loads both configs, .${extension} in a package of type ${type}`, { tag: '@versions' }, async ({
    newConsumer,
  }) => {
    const { folder, write, read, playwrightCli } = await newConsumer('latest', type);
    const config = extension === 'cjs' ? "module.exports = { testDir: './tests' };\n" : CONFIG;
    await write({ '.git/HEAD': '', [`playwright.config.${extension}`]: config, 'tests/a.spec.ts': SPEC });
    const { code, stdout, stderr } = await poolwright(['init', '--yes'], {}, folder);
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/Done\. Next:\n {2}1\. npm i -D poolwright\n/);
    expect(await read(`playwright.config.${extension}`)).toBe(config);
    const { scripts } = JSON.parse(await read('package.json'));
    const [, ...args] = scripts['test:hosted'].split(' ');
    const list = await runCommand({ folder } as Consumer, [playwrightCli, ...args, '--list']);
    expect(list.code, list.output).toBe(0);
    // The path has no directory, because `testDir` comes from the first config.
    expect(list.output).toMatch(/^ *(\[chromium\] › )?a\.spec\.ts:/m);
  });
}

test('without a terminal, shows the diff, changes nothing and exits 2 (with --dry-run: 0)', async ({ newConsumer }) => {
  const { folder, write } = await newConsumer();
  await write(suite);
  const asked = await poolwright(['init'], {}, folder);
  expect(asked.code).toBe(2);
  expect(asked.stdout).toContain(`+${ADDED}`);
  expect(asked.stderr).toBe(
    'poolwright: nothing was changed: without a terminal, init cannot ask. Add --yes to change the files.\n',
  );
  const dry = await poolwright(['init', '--dry-run'], {}, folder);
  expect({ code: dry.code, stderr: dry.stderr }).toEqual({ code: 0, stderr: '' });
  expect(dry.stdout).toMatch(/Nothing was changed\.\n$/);

  const json = await poolwright(['init', '--json'], {}, folder);
  expect(json.code).toBe(2);
  const { applied, changes, next } = JSON.parse(json.stdout);
  expect({
    applied,
    files: changes.map(({ file, action }: { file: string; action: string }) => `${action} ${file}`),
  }).toEqual({
    applied: false,
    files: ['create playwright.hosted.config.ts', 'edit package.json', 'create .gitignore'],
  });
  expect(next).toContain('npm run test:hosted');
  expect((await readdir(folder)).sort()).toEqual(
    ['.git', 'node_modules', 'package.json', 'playwright.config.ts', 'tests'].sort(),
  );
});

test('exits 1 when lines are left to add by hand, and 2 for bad usage', async ({ newConsumer }) => {
  const { folder, write, read } = await newConsumer();
  const text = 'export default { testDir: "./more" };\n';
  await write({ ...suite, 'playwright.hosted.config.ts': text });
  const byHand = await poolwright(['init', '--yes', '--json'], {}, folder);
  expect(byHand.code).toBe(1);
  const plan = JSON.parse(byHand.stdout);
  expect(plan.byHand).toHaveLength(1);
  expect(plan.byHand[0].lines.join('\n')).toContain('withHostedBrowsers(');
  expect(await read('playwright.hosted.config.ts')).toBe(text);

  await write({ 'playwright.config.js': 'module.exports = {};' });
  const two = await poolwright(['init', '--json'], {}, folder);
  expect(two.code).toBe(2);
  expect(JSON.parse(two.stdout).error).toMatchObject({
    code: 'OPTIONS_INVALID',
    message: expect.stringContaining('--config'),
  });
  expect((await poolwright(['init', '--ci', 'jenkins'], {}, folder)).code).toBe(2);
  const help = await poolwright(['init', '--help'], {}, folder);
  expect(help.code).toBe(0);
  for (const flag of ['--config', '--runner', '--ci', '--dry-run', '--yes', '--json'])
    expect(help.stdout).toContain(flag);
});

test('asks at a terminal: n changes nothing, y applies the changes', async ({ newConsumer }) => {
  test.skip(process.platform !== 'linux', 'script is another program there');
  const { folder, write, read } = await newConsumer();
  await write(suite);
  const answer = async (key: string, flags: string[] = [], meanwhile = async () => {}) => {
    const command = [process.execPath, CLI, 'init', ...flags].join(' ');
    const child = spawn('script', ['--quiet', '--flush', '--return', '--command', command, '/dev/null'], {
      cwd: folder,
    });
    let output = '';
    for await (const chunk of child.stdout.setEncoding('utf8')) {
      output += chunk;
      if (!chunk.includes('[y/N]')) continue;
      await meanwhile();
      child.stdin.write(key);
    }
    return { output, code: child.exitCode ?? (await once(child, 'exit'))[0] };
  };
  const no = await answer('n\n');
  expect(no.output).toContain('Change 3 files? [y/N]');
  expect(no).toMatchObject({ code: 1, output: expect.stringContaining('Nothing was changed.') });
  expect((await readdir(folder)).includes('playwright.hosted.config.ts')).toBe(false);
  // Green and red, unless NO_COLOR disables colours.
  expect(no.output).toContain(`\u001b[32m+${ADDED}`);
  // While the question is open, an editor saves one file and another program creates one.
  const own = JSON.stringify({ name: 'consumer', scripts: { own: 'thing' } });
  for (const [file, text] of [
    ['package.json', own],
    ['.gitignore', 'dist/\n'],
  ] as const) {
    const late = await answer('y\n', [], async () => await write({ [file]: text }));
    expect(late.code).toBe(1);
    expect(late.output).toMatch(
      new RegExp(
        `${file.replace('.', '\\.')} has changed since the plan was made\\. Nothing was written: run init again\\.`,
      ),
    );
    expect(await read(file)).toBe(text);
    expect((await readdir(folder)).includes('playwright.hosted.config.ts')).toBe(false);
  }
  const yes = await answer('y\n', ['--json']);
  expect(yes.code).toBe(0);
  expect(JSON.parse(yes.output.trim().split('\n').at(-1) ?? '')).toMatchObject({ applied: true });
  expect(await read('playwright.hosted.config.ts')).toContain(ADDED);
  expect(JSON.parse(await read('package.json')).scripts).toMatchObject({ own: 'thing' });
});

test('writes nothing when one file cannot be written', async () => {
  // Root may write everywhere, so with root the command runs as another user.
  const folder = await mkdtemp(join(tmpdir(), 'poolwright-init-'));
  try {
    await chmod(folder, 0o755);
    const dist = join(folder, 'dist');
    await cp(join(CLI, '..'), dist, { recursive: true });
    await cp(join(CLI, '../../package.json'), join(folder, 'package.json'));
    const project = await mkdtemp(join(folder, 'project-'));
    await writeFile(join(project, 'playwright.config.ts'), CONFIG);
    await writeFile(join(project, 'package.json'), '{}', { mode: 0o444 });
    const isRoot = process.getuid?.() === 0;
    if (isRoot) await chown(project, 65534, 65534);
    const run = promisify(execFile)(process.execPath, [join(dist, 'cli.js'), 'init', '--yes'], {
      cwd: project,
      ...(isRoot && { uid: 65534, gid: 65534 }),
    });
    const { code, stderr } = await run.then(() => ({ code: 0, stderr: '' })).catch((error) => error);
    expect(code, stderr).toBe(1);
    expect(stderr).toMatch(/package\.json cannot be written \(EACCES\)\. Nothing was changed\./);
    expect((await readdir(project)).sort()).toEqual(['package.json', 'playwright.config.ts']);
    expect(await readFile(join(project, 'package.json'), 'utf8')).toBe('{}');
  } finally {
    await rm(folder, { recursive: true });
  }
});

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { CLI, poolwright } from '../../support/run-cli.ts';

/** `poolwright init` as a new user runs it, and the suite after it. */

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

/** A repository of its own: this one's is not the user's. */
const suite = { '.git/HEAD': 'ref: refs/heads/main\n', 'playwright.config.ts': CONFIG, 'tests/a.spec.ts': SPEC };
const edit = {
  before: 'export default defineConfig({',
  after: 'export default defineConfig(withHostedBrowsers({',
};

test('a suite runs on hosted browsers after it; a second run finds all in place', async ({ newConsumer, service }) => {
  const { folder, write, read, playwrightCli } = await newConsumer();
  await write(suite);
  const { code, stdout, stderr } = await poolwright(['init', '--yes', '--ci', 'github'], {}, folder);
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(`-${edit.before}\n+${edit.after}`);
  expect(stdout).toMatch(/Done\. Next:\n {2}1\. npm i -D poolwright\n/);
  const config = await read('playwright.config.ts');
  expect(await read('.github/workflows/poolwright.yml')).toContain('npx playwright test --shard=');
  expect(config).toContain("import { withHostedBrowsers } from 'poolwright';\n");

  // A test on the emulator, by the script that was added.
  const { scripts } = JSON.parse(await read('package.json'));
  expect(scripts).toEqual({ 'test:hosted': 'playwright test' });
  const [, ...args] = scripts['test:hosted'].split(' ');
  const { CI: _ci, TEST_WORKER_INDEX: _index, ...env } = { ...process.env, ...service.env };
  const run = await promisify(execFile)(process.execPath, [playwrightCli, ...args], { cwd: folder, env });
  expect(run.stdout).toContain('1 passed');
  const record = JSON.parse(await read('test-results/poolwright/run.json'));
  expect(record.sessions).toHaveLength(1);

  const files = async () => await readdir(folder, { recursive: true });
  const before = await files();
  const second = await poolwright(['init', '--yes', '--ci', 'github'], {}, folder);
  expect(second).toEqual({
    code: 0,
    stderr: '',
    stdout: expect.stringContaining('All is in place: nothing to change.'),
  });
  expect(await files()).toEqual(before);
  expect(await read('playwright.config.ts')).toBe(config);
});

test('nobody to ask: the difference is shown, nothing is changed, exit code 2; --dry-run: 0', async ({
  newConsumer,
}) => {
  const { folder, write, read } = await newConsumer();
  await write(suite);
  const asked = await poolwright(['init'], {}, folder);
  expect(asked.code).toBe(2);
  expect(asked.stdout).toContain(`+${edit.after}`);
  expect(asked.stderr).toBe(
    'poolwright: nothing was changed: there is no terminal to ask at. Add --yes to change the files.\n',
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
    files: ['edit playwright.config.ts', 'edit package.json', 'create .env.example'],
  });
  expect(next).toContain('npm run test:hosted');
  expect(await read('playwright.config.ts')).toBe(CONFIG);
  expect((await readdir(folder)).includes('.env.example')).toBe(false);
});

test('what is left to a person is exit code 1; bad usage is 2', async ({ newConsumer }) => {
  const { folder, write, read } = await newConsumer();
  const text = 'export default () => ({ testDir: "./tests" });\n';
  await write({ ...suite, 'playwright.config.ts': text });
  const byHand = await poolwright(['init', '--yes', '--json'], {}, folder);
  expect(byHand.code).toBe(1);
  const plan = JSON.parse(byHand.stdout);
  expect(plan.byHand).toHaveLength(1);
  expect(plan.byHand[0].lines.join('\n')).toContain('withHostedBrowsers(');
  expect(await read('playwright.config.ts')).toBe(text);

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

test('at a terminal it asks: n changes nothing, y does', async ({ newConsumer }) => {
  test.skip(process.platform !== 'linux', 'script is another program there');
  const { folder, write, read } = await newConsumer();
  await write(suite);
  const answer = async (key: string, ...flags: string[]) => {
    const command = [process.execPath, CLI, 'init', ...flags].join(' ');
    const child = spawn('script', ['--quiet', '--flush', '--return', '--command', command, '/dev/null'], {
      cwd: folder,
    });
    let output = '';
    for await (const chunk of child.stdout.setEncoding('utf8')) {
      output += chunk;
      if (chunk.includes('[y/N]')) child.stdin.write(key);
    }
    return { output, code: child.exitCode ?? (await once(child, 'exit'))[0] };
  };
  const no = await answer('n\n');
  expect(no.output).toContain('Change 3 files? [y/N]');
  expect(no).toMatchObject({ code: 1, output: expect.stringContaining('Nothing was changed.') });
  expect(await read('playwright.config.ts')).toBe(CONFIG);
  // Green and red, for who does not mind.
  expect(no.output).toContain(`\u001b[32m+${edit.after}`);
  const yes = await answer('y\n', '--json');
  expect(yes.code).toBe(0);
  expect(JSON.parse(yes.output.trim().split('\n').at(-1) ?? '')).toMatchObject({ applied: true });
  expect(await read('playwright.config.ts')).toContain(edit.after);
});

test('a file that cannot be written: none is', async () => {
  // Root may write to everything: there, the command runs as another user.
  const folder = await mkdtemp(join(tmpdir(), 'poolwright-init-'));
  try {
    await chmod(folder, 0o755);
    const dist = join(folder, 'dist');
    await cp(join(CLI, '..'), dist, { recursive: true });
    await cp(join(CLI, '../../package.json'), join(folder, 'package.json'));
    const project = await mkdtemp(join(folder, 'project-'));
    await writeFile(join(project, 'playwright.config.ts'), CONFIG, { mode: 0o444 });
    const isRoot = process.getuid?.() === 0;
    if (isRoot) await chown(project, 65534, 65534);
    const run = promisify(execFile)(process.execPath, [join(dist, 'cli.js'), 'init', '--yes'], {
      cwd: project,
      ...(isRoot && { uid: 65534, gid: 65534 }),
    });
    const { code, stderr } = await run.then(() => ({ code: 0, stderr: '' })).catch((error) => error);
    expect(code, stderr).toBe(1);
    expect(stderr).toMatch(/playwright\.config\.ts cannot be written \(EACCES\)\. Nothing was changed\./);
    expect(await readdir(project)).toEqual(['playwright.config.ts']);
    expect(await readFile(join(project, 'playwright.config.ts'), 'utf8')).toBe(CONFIG);
  } finally {
    await rm(folder, { recursive: true });
  }
});

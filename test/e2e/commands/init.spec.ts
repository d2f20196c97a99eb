import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Consumer } from '../../support/e2e/consumer.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { runCommand } from '../../support/e2e/run-command.ts';
import { requires } from '../../support/requires.ts';
import { CLI, shellCommand } from '../../support/run-cli.ts';
import { poolwright } from '../../support/unit/cli/command-line.ts';
import { ADDED, CONFIG, SPEC, SUITE } from '../../support/unit/init/suite.ts';

/** `poolwright init` for a new user. */

// test/e2e/package/first-minutes.spec.ts runs the files that it writes.
for (const [extension, type, ...tag] of [
  ['ts', 'commonjs', '@slow'],
  ['ts', 'module'],
  ['mts', 'commonjs', '@slow'],
  ['js', 'commonjs', '@slow'],
  ['mjs', 'commonjs', '@slow'],
  ['cjs', 'module'],
] as const) {
  test(`init › writes configs that Playwright loads: .${extension}, type ${type}`, {
    tag: ['@versions', ...tag],
  }, async ({ newConsumer }) => {
    const { directory, write, read, playwrightCli } = await newConsumer('latest', type);
    const config = extension === 'cjs' ? "module.exports = { testDir: './tests' };\n" : CONFIG;
    await write({ '.git/HEAD': '', [`playwright.config.${extension}`]: config, 'tests/a.spec.ts': SPEC });
    const { code, stdout, stderr } = await poolwright(['init', '--yes'], {}, directory);
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/Done\. Next:\n {2}1\. npm i -D poolwright\n/);
    expect(await read(`playwright.config.${extension}`)).toBe(config);
    const { scripts } = JSON.parse(await read('package.json'));
    const [, ...args] = scripts['test:hosted'].split(' ');
    const list = await runCommand({ directory } as Consumer, [playwrightCli, ...args, '--list']);
    expect(list.code, list.output).toBe(0);
    // The path has no directory, because `testDir` comes from the first config.
    expect(list.output).toMatch(/^ *(\[chromium\] › )?a\.spec\.ts:/m);
  });
}

test('init › asks at a terminal: n changes nothing, y applies the changes', async ({ newConsumer }) => {
  requires('Linux');
  const { directory, write, read } = await newConsumer();
  await write(SUITE);
  const answer = async (key: string, flags: string[] = [], meanwhile = async () => {}) => {
    const command = shellCommand([process.execPath, CLI, 'init', ...flags]);
    const child = spawn('script', ['--quiet', '--flush', '--return', '--command', command, '/dev/null'], {
      cwd: directory,
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
  expect((await readdir(directory)).includes('playwright.hosted.config.ts')).toBe(false);
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
    expect((await readdir(directory)).includes('playwright.hosted.config.ts')).toBe(false);
  }
  const yes = await answer('y\n', ['--json']);
  expect(yes.code).toBe(0);
  expect(JSON.parse(yes.output.trim().split('\n').at(-1) ?? '')).toMatchObject({ applied: true });
  expect(await read('playwright.hosted.config.ts')).toContain(ADDED);
  expect(JSON.parse(await read('package.json')).scripts).toMatchObject({ own: 'thing' });
});

test('init › writes nothing when one file cannot be written', async () => {
  // Root may write everywhere, so with root the command runs as another user.
  const directory = await mkdtemp(join(tmpdir(), 'poolwright-init-'));
  try {
    await chmod(directory, 0o755);
    const dist = join(directory, 'dist');
    await cp(join(CLI, '..'), dist, { recursive: true });
    await cp(join(CLI, '../../package.json'), join(directory, 'package.json'));
    const project = await mkdtemp(join(directory, 'project-'));
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
    await rm(directory, { recursive: true });
  }
});

import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { chooseChromium, describeChromiums } from '../../../src/emulator/chromium/choose-chromium.ts';
import { type Chromiums, findChromiums } from '../../../src/emulator/chromium/find-chromium.ts';
import { browserSpec } from '../../../src/emulator/state/browser-request.ts';
import { expect, test } from '../../support/emulator/fixtures.ts';
import { runNode } from '../../support/emulator/run-node.ts';
import { localChromium } from '../../support/local-chromium.ts';
import { requires } from '../../support/requires.ts';
import { probeExtension } from '../../support/zip.ts';

/** Puts an executable file there. */
async function program(path: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, '#!/bin/sh\n');
  await chmod(path, 0o755);
  return path;
}

test.describe('Chromium', () => {
  test('comes from the option, else from the variable', async ({ directory }) => {
    const path = await program(join(directory, 'mine'));
    const environment = { POOLWRIGHT_CHROMIUM: '/bin/sh', PATH: '' };
    expect(await findChromiums(path, environment)).toEqual({
      shell: null,
      full: { kind: 'full', path, source: 'option' },
    });
    expect(await findChromiums(undefined, environment)).toEqual({
      shell: null,
      full: { kind: 'full', path: '/bin/sh', source: 'POOLWRIGHT_CHROMIUM' },
    });
  });

  test('full and shell are named separately; an option overrides its variable', async ({ directory }) => {
    const [full, shell, other] = await Promise.all(
      ['full', 'shell', 'other'].map((name) => program(join(directory, name))),
    );
    const environment = { PATH: '', POOLWRIGHT_CHROMIUM: full, POOLWRIGHT_CHROMIUM_SHELL: shell };
    expect(await findChromiums({}, environment)).toEqual({
      full: { kind: 'full', path: full, source: 'POOLWRIGHT_CHROMIUM' },
      shell: { kind: 'shell', path: shell, source: 'POOLWRIGHT_CHROMIUM_SHELL' },
    });
    expect(await findChromiums({ shell: other }, environment)).toMatchObject({
      full: { path: full },
      shell: { path: other, source: 'option' },
    });
    expect(await findChromiums(other, environment)).toMatchObject({ full: { path: other }, shell: null });
  });

  test('is recognised as a shell by its name when it is the only one', async ({ directory }) => {
    const path = await program(join(directory, 'chrome-headless-shell'));
    expect(await findChromiums(undefined, { PATH: '', POOLWRIGHT_CHROMIUM: path })).toEqual({
      shell: { kind: 'shell', path, source: 'POOLWRIGHT_CHROMIUM' },
      full: null,
    });
  });

  test('fails when the configured one is missing, even if the system has another', async ({ directory }) => {
    await expect(findChromiums(`${directory}/none`)).rejects.toMatchObject({
      code: 'EMULATOR_NO_CHROMIUM',
      message: expect.stringContaining(`The option "chromium" names ${directory}/none, which does not exist`),
    });
    for (const name of ['POOLWRIGHT_CHROMIUM', 'POOLWRIGHT_CHROMIUM_SHELL']) {
      await expect(findChromiums(undefined, { ...process.env, [name]: directory })).rejects.toMatchObject({
        message: expect.stringContaining(`The variable ${name} names ${directory}, which is not an executable file`),
      });
    }
  });

  test('is found on the PATH, full and shell', async ({ directory }) => {
    const full = await program(join(directory, 'chromium'));
    const shell = await program(join(directory, 'chromium-headless-shell'));
    const found = await findChromiums(undefined, { PATH: `/nowhere:${directory}` });
    // Playwright's downloads come first if this machine has any.
    expect(found.full?.source === 'playwright' ? full : found.full?.path).toBe(full);
    expect(found.shell?.source === 'playwright' ? shell : found.shell?.path).toBe(shell);
  });

  test.describe("Playwright's downloads", () => {
    /** The value of an expression in a process with these variables, and whether that loaded Playwright. */
    const ask = async (code: string, variables: Record<string, string>) => {
      const loaded = `Object.keys(Module._cache).some((file) => file.includes('playwright-core'))`;
      const script = `import { Module } from 'node:module'; const found = await ${code}; process.stdout.write(JSON.stringify({ found, asked: ${loaded} }))`;
      const unnamed = { POOLWRIGHT_CHROMIUM: '', POOLWRIGHT_CHROMIUM_SHELL: '', PATH: '' };
      return JSON.parse((await runNode(['--input-type=module', '-e', script], { ...unnamed, ...variables })).stdout);
    };
    const own = async (variables: Record<string, string>): Promise<string> =>
      (await ask(`(await import('playwright-core')).chromium.executablePath()`, variables)).found;
    const LOADS = {
      esm: `await import('poolwright/emulator')`,
      cjs: `Module.createRequire(process.cwd() + '/')('poolwright/emulator')`,
    };
    const find = (variables: Record<string, string>, format: keyof typeof LOADS = 'esm') =>
      ask(`(${LOADS[format]}).findChromiums()`, variables);

    for (const [where, variablesOf] of [
      ['in the directory that its variable names', (directory: string) => ({ PLAYWRIGHT_BROWSERS_PATH: directory })],
      ['in its own directory', (directory: string) => ({ HOME: directory, XDG_CACHE_HOME: join(directory, 'cache') })],
    ] as const) {
      test(`are found ${where}, both kinds`, async ({ directory }) => {
        requires('Linux');
        const full = await own(variablesOf(directory));
        await program(full);
        const shell = await shellBeside(full);
        const found = {
          shell: { kind: 'shell', path: shell, source: 'playwright' },
          full: { kind: 'full', path: full, source: 'playwright' },
        };
        expect(await find(variablesOf(directory))).toEqual({ found, asked: false });
      });
    }

    const ASKED = 'are asked for where it takes more than its documented directory to know';
    test(ASKED, { tag: '@loads:playwright-core' }, async ({ directory, artefact }) => {
      const variables = { PLAYWRIGHT_BROWSERS_PATH: relative(process.cwd(), directory) };
      const full = await own(variables);
      expect(full.startsWith(directory)).toBe(true);
      await program(full);
      const shell = await shellBeside(full);
      const found = { shell: { path: shell }, full: { path: full } };
      const format = artefact === 'cjs' ? 'cjs' : 'esm';
      expect(await find(variables, format)).toMatchObject({ found, asked: true });
    });

    test('of another Playwright version are ignored', async ({ directory }) => {
      await program(join(directory, 'chromium-1', 'chrome-linux64', 'chrome'));
      const path = await program(join(directory, 'system', 'chromium'));
      expect(await find({ PLAYWRIGHT_BROWSERS_PATH: directory, PATH: join(directory, 'system') })).toMatchObject({
        found: { full: { path, source: 'system' } },
        asked: false,
      });
    });
  });
});

async function shellBeside(full: string): Promise<string> {
  const [, directory = '', revision = ''] = /^(.*)chromium-(\d+)/.exec(full) ?? [];
  return await program(join(directory, `chromium_headless_shell-${revision}`, 'any-platform', 'headless_shell'));
}

test.describe('the Chromium of a session', () => {
  const both: Chromiums = {
    shell: { kind: 'shell', path: '/shell', source: 'system' },
    full: { kind: 'full', path: '/full', source: 'POOLWRIGHT_CHROMIUM' },
  };

  test('is the shell, unless the session needs full Chromium or only one is installed', () => {
    const chosen = (body: Parameters<typeof browserSpec>[0]) =>
      chooseChromium(both, browserSpec(body).fullBecause).path;
    expect(chosen({})).toBe('/shell');
    expect(chosen({ type: 'hosted', extensionIds: [], windowSize: '800x600', url: 'about:blank' })).toBe('/shell');
    expect(chosen({ type: 'hosted_stealth' })).toBe('/full');
    expect(chosen({ type: 'hosted_privacy' })).toBe('/full');
    expect(chosen({ profile: { name: 'p' } })).toBe('/full');
    expect(chosen({ extensionIds: ['ext_1'] })).toBe('/full');
    expect(chooseChromium({ ...both, full: null }, 'profile').path).toBe('/shell');
    expect(chooseChromium({ ...both, shell: null }, null).path).toBe('/full');
  });

  test('is logged with the reason', () => {
    expect(describeChromiums(both)).toEqual([
      "/shell (headless shell, the system's): for sessions of type hosted, as the lightest that can run them",
      '/full (full Chromium, named by POOLWRIGHT_CHROMIUM): for stealth and privacy types, profiles and extensions',
    ]);
    const alone = describeChromiums({ ...both, shell: null });
    expect(alone).toEqual([
      '/full (full Chromium, named by POOLWRIGHT_CHROMIUM): for all sessions, because only this one is configured',
    ]);
    const [shell] = describeChromiums({ ...both, full: null });
    expect(shell).toContain('extensions: those need full Chromium');
  });

  test('is the process that runs', async ({ start, directory }) => {
    requires('Linux');
    const path = await localChromium();
    const marked = async (kind: string) => {
      const file = await program(join(directory, kind));
      await writeFile(file, `#!/bin/sh\nexec '${path}' "$@" --poolwright-test=${kind}\n`);
      return file;
    };
    const emulator = await start({ chromium: { shell: await marked('shell'), full: await marked('full') } });
    const kinds = async () =>
      (await Promise.all(emulator.browserPids().map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8'))))
        .map((line) => /--poolwright-test=(\w+)/.exec(line)?.[1])
        .sort();
    await emulator.api.create();
    expect(await kinds()).toEqual(['shell']);
    await emulator.api.create({ type: 'hosted_stealth' });
    await emulator.api.create({ profile: { name: 'p' } });
    expect(await kinds()).toEqual(['full', 'full', 'shell']);
  });

  test('cannot be the shell with extensions: the error says what to install', async ({ start, directory }) => {
    const shell = await program(join(directory, 'chromium-headless-shell'));
    const { api } = await start({ chromium: shell });
    const { extension } = (await api.upload('POST', '/extensions', await probeExtension())).body;
    const refused = await api.create({ extensionIds: [extension.extensionId] });
    expect(refused.status).toBe(400);
    expect(refused.body.error).toMatch(/^extensionIds: extensions need full Chromium, .*install chromium/);
  });
});

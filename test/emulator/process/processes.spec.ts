import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { describeChromiums } from '../../../src/emulator/chromium/choose-chromium.ts';
import { findChromiums } from '../../../src/emulator/chromium/find-chromium.ts';
import { Api } from '../../support/emulator/api.ts';
import { test as base, expect } from '../../support/emulator/fixtures.ts';
import { isRunning } from '../../support/processes.ts';
import { requires, UNSHARE } from '../../support/requires.ts';
import { probeExtension } from '../../support/zip.ts';
import { type BuiltEntries, buildEntries } from './built-entries.ts';

interface Started {
  child: ChildProcess;
  /** The first line it wrote, parsed. */
  // biome-ignore lint/suspicious/noExplicitAny: the tests check its content
  answer: any;
  exited: Promise<unknown[]>;
  stderr: () => string;
}

type Run = (file: 'emulatorMain' | 'cli', args: string[], input?: unknown, env?: object) => Promise<Started>;

const test = base.extend<{ run: Run }, { entries: BuiltEntries }>({
  entries: [
    async ({}, use, { workerIndex }) => {
      const entries = await buildEntries(workerIndex);
      await use(entries);
      await entries.remove();
    },
    { scope: 'worker' },
  ],
  run: async ({ entries }, use) => {
    const children: ChildProcess[] = [];
    await use(async (file, args, input, env = {}) => {
      const child = spawn(process.execPath, [entries[file], ...args], { env: { ...process.env, ...env } });
      children.push(child);
      const exited = once(child, 'exit');
      let stderr = '';
      child.stderr.on('data', (text) => {
        stderr += text;
      });
      if (input !== undefined) child.stdin.write(`${JSON.stringify(input)}\n`);
      const line = once(createInterface({ input: child.stdout }), 'line').then(([text]) => JSON.parse(text));
      const answer = await Promise.race([line, exited.then(() => undefined)]);
      return { child, answer, exited, stderr: () => stderr };
    });
    for (const child of children) child.kill('SIGKILL');
  },
});

/** PIDs of the browsers of an emulator in another process: its children, as Linux lists them. */
async function browsersOf(parent: number): Promise<number[]> {
  const { readFileSync } = await import('node:fs');
  return readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8')
    .trim()
    .split(/\s+/)
    .filter(Boolean)
    .map(Number);
}

const directoriesOf = (pid: number, directory = tmpdir()) =>
  readdirSync(directory).filter((name) => name.startsWith('poolwright-emulator-') && name.includes(`-${pid}-`));

test.describe('the emulator as a process', () => {
  requires('Linux');

  test('runs until its pipe ends, and leaves nothing', async ({ run }) => {
    const { child, answer, exited } = await run('emulatorMain', [], { apiKey: 'k1' });
    expect(answer).toEqual({
      ok: true,
      baseURL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      apiKey: 'k1',
      chromiums: describeChromiums(await findChromiums()),
    });
    const api = new Api(answer.baseURL, answer.apiKey);
    expect((await api.create()).status).toBe(200);
    const pids = await browsersOf(child.pid as number);
    expect(pids).toHaveLength(1);
    child.kill('SIGINT'); // the parent handles Ctrl-C
    expect((await api.get('/sessions')).status).toBe(200);
    child.stdin?.end();
    await exited;
    expect(child.exitCode).toBe(0);
    expect(pids.filter(isRunning)).toEqual([]);
    expect(directoriesOf(child.pid as number)).toEqual([]);
  });

  test('ends on SIGTERM, even while busy', async ({ run }) => {
    const { child, answer, exited } = await run('emulatorMain', [], {});
    const api = new Api(answer.baseURL, answer.apiKey);
    await api.post('/pools', { name: 'p', size: 2 });
    await expect.poll(async () => (await browsersOf(child.pid as number)).length).toBeGreaterThan(0);
    const pids = await browsersOf(child.pid as number);
    child.kill('SIGTERM');
    const began = Date.now();
    await exited;
    expect(Date.now() - began).toBeLessThan(15_000);
    expect(pids.filter(isRunning)).toEqual([]);
  });

  test('ends its browsers when it is killed, and the next one removes its directories', async ({ run, directory }) => {
    const own = { TMPDIR: directory }; // emulators of other tests sweep too
    const { child, answer, exited } = await run('emulatorMain', [], {}, own);
    const api = new Api(answer.baseURL, answer.apiKey);
    await Promise.all([api.create(), api.create()]);
    const pids = await browsersOf(child.pid as number);
    expect(pids).toHaveLength(2);
    child.kill('SIGKILL');
    await exited;
    await expect.poll(() => pids.filter(isRunning)).toEqual([]);
    expect(directoriesOf(child.pid as number, directory)).toHaveLength(1);
    // The process that inherited it may keep it as a zombie; its directory stays until then.
    await expect.poll(() => existsSync(`/proc/${child.pid}`)).toBe(false);
    await run('emulatorMain', [], {}, own);
    expect(directoriesOf(child.pid as number, directory)).toEqual([]);
  });

  test('keeps the directories of an emulator whose process it cannot see', async ({ run, directory, entries }) => {
    requires('unshare');
    const [unshare, ...user] = UNSHARE;
    const own = { TMPDIR: directory };
    const { child, answer } = await run('emulatorMain', [], {}, own);
    expect((await new Api(answer.baseURL, answer.apiKey).create()).status).toBe(200);
    expect(directoriesOf(child.pid as number, directory)).toHaveLength(1);
    const elsewhere = [
      ...user,
      '--pid',
      '--fork',
      '--kill-child',
      '--mount-proc',
      process.execPath,
      entries.emulatorMain,
    ];
    const options = { input: '{}\n', env: { ...process.env, ...own }, encoding: 'utf8', timeout: 30_000 } as const;
    expect(JSON.parse(spawnSync(unshare, elsewhere, options).stdout)).toMatchObject({ ok: true });
    expect(directoriesOf(child.pid as number, directory)).toHaveLength(1);
  });

  test('reports an error as one line', async ({ run, start, directory }) => {
    const { port } = await start();
    const inUse = await run('emulatorMain', [], { port });
    expect(inUse.answer).toEqual({
      ok: false,
      code: 'EMULATOR_PORT_IN_USE',
      message: expect.stringMatching(new RegExp(`^Port ${port} on 127\\.0\\.0\\.1 is in use\\. .*another port`)),
    });
    await inUse.exited;
    expect(inUse.child.exitCode).toBe(1);

    const bad = await run('emulatorMain', [], { concurrentBrowsers: 'many' });
    expect(bad.answer).toMatchObject({
      ok: false,
      code: 'OPTIONS_INVALID',
      message: expect.stringContaining('concurrentBrowsers'),
    });

    const bare = { PATH: directory, PLAYWRIGHT_BROWSERS_PATH: directory, POOLWRIGHT_CHROMIUM: '' };
    const none = (await run('emulatorMain', [], {}, bare)).answer;
    expect(none).toMatchObject({ ok: false, code: 'EMULATOR_NO_CHROMIUM' });
    expect(none.message).toContain('npx playwright install chromium');
    expect(none.message).toContain('package manager');
    expect(none.message).toContain('POOLWRIGHT_CHROMIUM');

    const missing = (await run('emulatorMain', [], {}, { ...bare, POOLWRIGHT_CHROMIUM: `${directory}/x` })).answer;
    expect(missing.message).toContain(`The variable POOLWRIGHT_CHROMIUM names ${directory}/x, which does not exist`);
    const notExecutable = (await run('emulatorMain', [], {}, { ...bare, POOLWRIGHT_CHROMIUM: directory })).answer;
    expect(notExecutable.message).toContain('which is not an executable file');
  });
});

test.describe('poolwright emulator', () => {
  test('runs until Ctrl-C', async ({ run }) => {
    const { child, answer, exited } = await run('cli', ['emulator', '--json', '--concurrent-browsers', '1']);
    expect(answer).toEqual({
      baseURL: `http://127.0.0.1:${answer.port}`,
      apiKey: expect.stringMatching(/^pw_/),
      port: expect.any(Number),
      chromiums: await findChromiums(),
      pid: child.pid,
    });
    const api = new Api(answer.baseURL, answer.apiKey);
    expect((await api.create()).status).toBe(200);
    expect((await api.create()).status).toBe(403);
    child.kill('SIGINT');
    child.kill('SIGINT'); // npx passes the terminal's Ctrl-C on a second time
    await exited;
    expect(child.exitCode).toBe(0);
    expect(directoriesOf(child.pid as number)).toEqual([]);
  });

  test('uses the key from the environment and does not print it', async ({ run }) => {
    const { answer } = await run('cli', ['emulator', '--json'], undefined, { POOLWRIGHT_API_KEY: 'secret-key-1' });
    expect(answer.apiKey).toBeNull();
    expect((await new Api(answer.baseURL, 'secret-key-1').get('/sessions')).status).toBe(200);
  });

  test('simulates distance and errors by flags', async ({ run }) => {
    const flags = ['--error-rate', '1', '--seed', '3', '--rtt', '50', '--start-delay', '10', '--start-jitter', '5'];
    const { answer } = await run('cli', ['emulator', '--json', ...flags]);
    expect([429, 500, 502, 503]).toContain((await fetch(`${answer.baseURL}/v1/browser/pools`)).status);
  });

  test('keeps profiles and extensions with --data, and has no extensions without access', async ({
    run,
    directory,
  }) => {
    const data = `${directory}/data`;
    const profile = { name: 'p', persist: true };
    const before = await run('cli', ['emulator', '--json', '--data', data]);
    const api = new Api(before.answer.baseURL, before.answer.apiKey);
    expect((await api.create({ profile })).status).toBe(200);
    expect((await api.upload('POST', '/extensions', await probeExtension())).status).toBe(201);
    before.child.kill('SIGINT'); // its session completes, and is saved
    await before.exited;
    expect(before.child.exitCode).toBe(0);
    const after = await run('cli', ['emulator', '--json', '--data', data, '--no-extension-access']);
    const again = new Api(after.answer.baseURL, after.answer.apiKey);
    expect((await again.get('/profiles')).body.profiles).toMatchObject([{ name: 'p' }]);
    expect((await again.get('/extensions')).status).toBe(403);
    const third = await run('cli', ['emulator', '--data', data]);
    expect(third.child.exitCode).toBe(1);
    expect(third.stderr()).toMatch(/^poolwright: The data directory .*: another emulator uses it\..*\n$/);
  });

  test('exits 1 for a failure and 2 for bad usage, without a stack', async ({ run, start }) => {
    const { port } = await start();
    const inUse = await run('cli', ['emulator', '--port', String(port)]);
    expect(inUse.child.exitCode).toBe(1);
    expect(inUse.stderr()).toMatch(/^poolwright: Port \d+ on 127\.0\.0\.1 is in use\..*\n$/);
    const json = await run('cli', ['emulator', '--json', '--port', String(port)]);
    expect(json.answer.error.code).toBe('EMULATOR_PORT_IN_USE');
    for (const args of [
      ['emulator', '--port', 'x'],
      ['emulator', '--port', '70000'],
      ['nope'],
      ['emulator', '--nope'],
      ['emulator', '--error-rate', 'often'],
      ['emulator', '--rtt', '-5'],
      ['emulator', '--browser', 'stub'],
    ]) {
      const bad = await run('cli', args);
      expect([args, bad.child.exitCode]).toEqual([args, 2]);
      expect(bad.stderr()).not.toContain('    at ');
    }
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { expect, test } from '../../support/e2e/fixtures.ts';
import type { TestService } from '../../support/e2e/service.ts';
import { CLI, poolwright } from '../../support/run-cli.ts';

test('lists, shows and stops sessions, and shows no CDP address', async ({ service }) => {
  const session = await service.client.createSession({ note: 'by hand' });
  const listed = await poolwright(['sessions', 'list'], service.env);
  expect(listed).toMatchObject({ code: 0, stderr: '' });
  expect(listed.stdout).toContain(session.sessionId);
  expect(listed.stdout).toContain('by hand');
  const json = await poolwright(['sessions', 'list', '--json'], service.env);
  expect(JSON.parse(json.stdout)).toMatchObject([{ sessionId: session.sessionId, status: 'active' }]);
  expect(json.stdout).not.toContain('/cdp/');

  expect(await poolwright(['sessions', 'stop', session.sessionId], service.env)).toEqual({
    code: 0,
    stdout: `stopped ${session.sessionId}\n`,
    stderr: '',
  });
  expect(await service.running()).toEqual([]);
  const shown = await poolwright(['sessions', 'get', session.sessionId, '--json'], service.env);
  expect(JSON.parse(shown.stdout)).toMatchObject([{ status: 'completed', bandwidthBytes: expect.any(Number) }]);
});

test('exits 1 for a failure and 2 for bad usage, with what to do', async ({ service }) => {
  const unknown = await poolwright(['sessions', 'stop', 'nobody'], service.env);
  expect(unknown).toMatchObject({ code: 1, stdout: '' });
  expect(unknown.stderr).toContain('nobody');
  const keyless = await poolwright(['sessions', 'list'], { ...service.env, POOLWRIGHT_API_KEY: '' });
  expect(keyless.code).toBe(2);
  expect(keyless.stderr).toBe('poolwright: POOLWRIGHT_API_KEY is not set: export POOLWRIGHT_API_KEY=…\n');
  const query = { ...service.env, POOLWRIGHT_BASE_URL: 'ftp://a.test/?token=abcdef' };
  const refused = await poolwright(['sessions', 'list'], query);
  expect(refused.code).toBe(2);
  expect(refused.stderr).not.toContain('abcdef');
  expect((await poolwright(['sessions', 'list', '--status', 'wrong'], service.env)).code).toBe(2);
});

test('sweeps nothing without a key, and requires a key for --run', async () => {
  const none = { POOLWRIGHT_BASE_URL: '', POOLWRIGHT_API_KEY: '', CI: '1' };
  expect(await poolwright(['sweep'], none)).toEqual({
    code: 0,
    stdout: '',
    stderr:
      'poolwright: POOLWRIGHT_API_KEY is not set: nothing to sweep (browsers of the emulator end with their run)\n',
  });
  const json = await poolwright(['sweep', '--json'], none);
  expect(JSON.parse(json.stdout)).toMatchObject({ stopped: [], failures: [] });
  const named = await poolwright(['sweep', '--run', 'gh-1.1'], none);
  expect(named.code).toBe(2);
  expect(named.stderr).toContain('POOLWRIGHT_BASE_URL and POOLWRIGHT_API_KEY are not set: export ');
});

test.describe('stops all given sessions even if its output goes', () => {
  test('to a closed pipe', async ({ service }) => {
    expect(await stopThree(service, 'pipe')).toEqual({ code: 0, stderr: '' });
    expect(await service.running()).toEqual([]);
  });

  test('to a full disk', async ({ service }) => {
    test.skip(process.platform !== 'linux', 'only Linux has a device that is full');
    const full = openSync('/dev/full', 'w');
    const { code, stderr } = await stopThree(service, full);
    closeSync(full);
    expect(stderr).toMatch(/^poolwright: the output could not be written: ENOSPC[^\n]*\n$/);
    expect(code).toBe(1);
    expect(await service.running()).toEqual([]);
  });
});

/** Stops three sessions with one command, whose output goes to this file, or through a closed pipe. */
async function stopThree({ client, env }: TestService, output: number | 'pipe') {
  const sessions = await Promise.all([1, 2, 3].map(() => client.createSession()));
  const args = [CLI, 'sessions', 'stop', ...sessions.map(({ sessionId }) => sessionId)];
  const command = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ['ignore', output, 'pipe'] });
  command.stdout?.destroy();
  let stderr = '';
  command.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  const [code] = await once(command, 'close');
  return { code, stderr };
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { CLI, poolwright } from './harness/command.ts';
import { expect, test } from './harness/fixtures.ts';

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

test('mistakes: exit code 1 for what failed, 2 for bad usage, each with a way out', async ({ service }) => {
  const unknown = await poolwright(['sessions', 'stop', 'nobody'], service.env);
  expect(unknown).toMatchObject({ code: 1, stdout: '' });
  expect(unknown.stderr).toContain('nobody');
  const keyless = await poolwright(['sessions', 'list'], { ...service.env, POOLWRIGHT_API_KEY: '' });
  expect(keyless.code).toBe(2);
  expect(keyless.stderr).toContain('POOLWRIGHT_API_KEY is not set');
  expect((await poolwright(['sessions', 'list', '--status', 'wrong'], service.env)).code).toBe(2);
});

test('stops every session it was told to, also when nobody reads what it prints', async ({ service }) => {
  const sessions = await Promise.all([1, 2, 3].map(() => service.client.createSession()));
  const args = [CLI, 'sessions', 'stop', ...sessions.map(({ sessionId }) => sessionId)];
  const command = spawn(process.execPath, args, { env: { ...process.env, ...service.env } });
  command.stdout.destroy();
  let stderr = '';
  command.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  const [code] = await once(command, 'close');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(await service.running()).toEqual([]);
});

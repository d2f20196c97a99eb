import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from './harness/fixtures.ts';
import type { TestService } from './harness/service.ts';

const CLI = new URL('../../dist/cli.js', import.meta.url).pathname;

async function poolwright(service: TestService, args: string[], env: Record<string, string> = {}) {
  const run = promisify(execFile)(process.execPath, [CLI, ...args], {
    env: { ...process.env, ...service.env, ...env },
  });
  const { stdout, stderr, code } = await run.then((done) => ({ ...done, code: 0 })).catch((error) => error);
  return { stdout: String(stdout), stderr: String(stderr), code: Number(code) };
}

test('lists, shows and stops sessions, and shows no CDP address', async ({ service }) => {
  const session = await service.client.createSession({ note: 'by hand' });
  const listed = await poolwright(service, ['sessions', 'list']);
  expect(listed).toMatchObject({ code: 0, stderr: '' });
  expect(listed.stdout).toContain(session.sessionId);
  expect(listed.stdout).toContain('by hand');
  const json = await poolwright(service, ['sessions', 'list', '--json']);
  expect(JSON.parse(json.stdout)).toMatchObject([{ sessionId: session.sessionId, status: 'active' }]);
  expect(json.stdout).not.toContain('/cdp/');

  expect(await poolwright(service, ['sessions', 'stop', session.sessionId])).toEqual({
    code: 0,
    stdout: `stopped ${session.sessionId}\n`,
    stderr: '',
  });
  expect(await service.running()).toEqual([]);
  const shown = await poolwright(service, ['sessions', 'get', session.sessionId, '--json']);
  expect(JSON.parse(shown.stdout)).toMatchObject([{ status: 'completed', bandwidthBytes: expect.any(Number) }]);
});

test('mistakes: exit code 1 for what failed, 2 for bad usage, each with a way out', async ({ service }) => {
  const unknown = await poolwright(service, ['sessions', 'stop', 'nobody']);
  expect(unknown).toMatchObject({ code: 1, stdout: '' });
  expect(unknown.stderr).toContain('nobody');
  const keyless = await poolwright(service, ['sessions', 'list'], { POOLWRIGHT_API_KEY: '' });
  expect(keyless.code).toBe(2);
  expect(keyless.stderr).toContain('POOLWRIGHT_API_KEY is not set');
  expect((await poolwright(service, ['sessions', 'list', '--status', 'wrong'])).code).toBe(2);
});

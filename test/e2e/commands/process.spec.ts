import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { expect, test } from '../../support/e2e/fixtures.ts';
import type { TestService } from '../../support/e2e/service.ts';
import { requires } from '../../support/requires.ts';
import { CLI, poolwright } from '../../support/run-cli.ts';

/** The built command line as a process; test/unit/cli runs the commands in the process of the test. */

test('the process › ends with the exit code of the command, and writes results to stdout', async ({ service }) => {
  const { env } = service;
  const done = await poolwright(['sessions', 'list', '--json'], env);
  expect(done).toEqual({ code: 0, stdout: '[]\n', stderr: '' });
  const failed = await poolwright(['sessions', 'stop', 'nobody'], env);
  expect(failed).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('nobody') });
  const misused = await poolwright(['sessions', 'list', '--json'], { ...env, POOLWRIGHT_API_KEY: '' });
  expect(misused).toMatchObject({ code: 2, stderr: '' });
  expect(JSON.parse(misused.stdout)).toMatchObject({ error: { code: 'ENVIRONMENT_MISSING' } });
});

test.describe('the process › stops all given sessions even if its output goes', () => {
  test.use({ browsers: 'stub' });

  test('to a closed pipe', async ({ service }) => {
    expect(await stopThree(service, 'pipe')).toEqual({ code: 0, stderr: '' });
    expect(await service.running()).toEqual([]);
  });

  test('to a full disk', async ({ service }) => {
    requires('Linux');
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

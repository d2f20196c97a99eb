import { expect, poolwright, test } from '../../../support/unit/cli/command-line.ts';

test('sessions › lists, shows and stops them, without their CDP addresses', async ({ service }) => {
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

test('sessions › exits 1 for a failure and 2 for bad usage, with what to do', async ({ service }) => {
  const unknown = await poolwright(['sessions', 'stop', 'nobody'], service.env);
  expect(unknown).toMatchObject({ code: 1, stdout: '' });
  expect(unknown.stderr).toContain('nobody');
  const keyless = await poolwright(['sessions', 'list'], { ...service.env, POOLWRIGHT_API_KEY: '' });
  expect(keyless.code).toBe(2);
  expect(keyless.stderr).toBe(
    'poolwright: POOLWRIGHT_API_KEY is not set: export POOLWRIGHT_API_KEY=… [ENVIRONMENT_MISSING]\n',
  );
  const query = { ...service.env, POOLWRIGHT_BASE_URL: 'ftp://a.test/?token=abcdef' };
  const refused = await poolwright(['sessions', 'list'], query);
  expect(refused.code).toBe(2);
  expect(refused.stderr).not.toContain('abcdef');
  expect((await poolwright(['sessions', 'list', '--status', 'wrong'], service.env)).code).toBe(2);
});

test('sessions note › sets and removes a note', async ({ service }) => {
  const { sessionId } = await service.client.createSession();
  const noted = await poolwright(['sessions', 'note', sessionId, 'mine', '--json'], service.env);
  expect(JSON.parse(noted.stdout)).toMatchObject([{ sessionId, note: 'mine' }]);
  expect(noted.stdout).not.toContain('/cdp/');
  await poolwright(['sessions', 'note', sessionId, ''], service.env);
  expect((await service.client.getSession(sessionId)).note).toBeNull();
  await service.client.stopSession(sessionId);
  const late = await poolwright(['sessions', 'note', sessionId, 'late'], service.env);
  expect(late.code).toBe(1);
  expect(late.stderr).toContain('Cannot update a terminal session');
});

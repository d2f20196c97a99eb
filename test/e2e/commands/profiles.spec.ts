import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { requires } from '../../support/requires.ts';
import { CLI, poolwright, shellCommand } from '../../support/run-cli.ts';

test.use({ browsers: 'shell' });

test('profiles › lists what sessions saved, and asks at a terminal before it deletes', async ({ service }) => {
  requires('Linux');
  const { client, env } = service;
  for (const name of ['one', 'two']) {
    const { sessionId } = await client.createSession({ profile: { name, persist: true } });
    await client.stopSession(sessionId);
  }
  const listed = await poolwright(['profiles', 'list'], env);
  expect(listed).toMatchObject({ code: 0, stderr: '' });
  expect(listed.stdout).toMatch(/one[^\n]*\n[^\n]*two/);
  expect(await poolwright(['profiles', 'delete', 'one'], env)).toMatchObject({ code: 2, stdout: '' });

  /** Types these keys when the command asks; returns its exit code and the terminal's content. */
  const typing = async (keys: string) => {
    const command = shellCommand([process.execPath, CLI, 'profiles', 'delete', 'one']);
    const child = spawn('script', ['-qec', command, '/dev/null'], { env: { ...process.env, ...env } });
    const closed = once(child, 'close');
    let text = '';
    let typed = false;
    child.stdout.on('data', (chunk) => {
      text += String(chunk);
      if (typed || !text.includes('[y/N]')) return;
      typed = true;
      child.stdin.write(keys);
    });
    const [code] = await closed;
    return { text, code };
  };
  const no = await typing('n\n');
  expect(no.text).toContain('Delete profile "one" for good? [y/N]');
  expect(no.text).toContain('Nothing was changed');
  expect(no.code).toBe(1);
  expect((await typing('\u0004')).code).toBe(1);
  expect(await client.listProfiles()).toHaveLength(2);
  const yes = await typing('yes\n');
  expect(yes.text).toContain('deleted profile "one"');
  expect(yes.code).toBe(0);

  expect(await client.listProfiles()).toMatchObject([{ name: 'two' }]);
  const deleted = await poolwright(['profiles', 'delete', 'two', 'never there', '--yes', '--json'], env);
  expect(JSON.parse(deleted.stdout)).toEqual({ deleted: ['two'], missing: ['never there'] });
  const left = await poolwright(['profiles', 'list', '--json'], env);
  expect(JSON.parse(left.stdout)).toEqual([]);
});

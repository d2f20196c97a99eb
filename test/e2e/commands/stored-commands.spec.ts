import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { CLI, poolwright } from '../../support/run-cli.ts';
import { probeExtension } from '../../support/zip.ts';

test('poolwright extensions uploads, shows, updates and deletes', async ({ service }, testInfo) => {
  const zip = testInfo.outputPath('probe.zip');
  await writeFile(zip, await probeExtension());
  const uploaded = await poolwright(['extensions', 'upload', zip, '--json'], service.env);
  expect(uploaded).toMatchObject({ code: 0, stderr: '' });
  const [extension] = JSON.parse(uploaded.stdout);
  expect(extension).toMatchObject({ name: 'Probe', version: '1.2' });
  const { extensionId, crxExtensionId } = extension;

  const listed = await poolwright(['extensions', 'list'], service.env);
  expect(listed.stdout).toContain(extensionId);
  expect(listed.stdout).toContain(crxExtensionId);
  expect(listed.stdout).toContain('Probe');

  await writeFile(zip, await probeExtension({ version: '2.0' }));
  const unasked = await poolwright(['extensions', 'update', extensionId, zip], service.env);
  expect(unasked).toMatchObject({ code: 2, stdout: '' });
  expect(unasked.stderr).toContain('add --yes');
  const updated = await poolwright(['extensions', 'update', extensionId, zip, '--yes', '--json'], service.env);
  expect(JSON.parse(updated.stdout)).toMatchObject([{ extensionId, version: '2.0' }]);
  const got = await poolwright(['extensions', 'get', extensionId, '--json'], service.env);
  expect(got.stdout).toBe(updated.stdout);

  expect(await poolwright(['extensions', 'delete', extensionId, '--yes'], service.env)).toEqual({
    code: 0,
    stdout: `deleted ${extensionId}\n`,
    stderr: '',
  });
  const gone = await poolwright(['extensions', 'get', extensionId], service.env);
  expect(gone.code).toBe(1);
  expect(gone.stderr).toContain(`Extension not found: ${extensionId}`);
  const missing = await poolwright(['extensions', 'upload', join(zip, 'no.zip')], service.env);
  expect(missing.code).toBe(2);
  expect(missing.stderr).toContain('cannot be read');
});

test('poolwright profiles lists and deletes what sessions saved', async ({ service }) => {
  const { client, env } = service;
  for (const name of ['one', 'two']) {
    const { sessionId } = await client.createSession({ profile: { name, persist: true } });
    await client.stopSession(sessionId);
  }
  const listed = await poolwright(['profiles', 'list'], env);
  expect(listed).toMatchObject({ code: 0, stderr: '' });
  expect(listed.stdout).toMatch(/one[^\n]*\n[^\n]*two/);
  expect(await poolwright(['profiles', 'delete', 'one'], env)).toMatchObject({ code: 2, stdout: '' });
  expect(await client.listProfiles()).toHaveLength(2);
  const deleted = await poolwright(['profiles', 'delete', 'one', 'never there', '--yes', '--json'], env);
  expect(JSON.parse(deleted.stdout)).toEqual({ deleted: ['one', 'never there'] });
  const left = await poolwright(['profiles', 'list', '--json'], env);
  expect(JSON.parse(left.stdout)).toMatchObject([{ name: 'two' }]);
});

test('asks at a terminal before it deletes a profile', async ({ service }) => {
  test.skip(process.platform !== 'linux', 'makes a terminal with script(1) of util-linux');
  const { client, env } = service;
  const { sessionId } = await client.createSession({ profile: { name: 'kept', persist: true } });
  await client.stopSession(sessionId);
  /** Types these keys when the command asks; returns its exit code and the terminal's content. */
  const typing = async (keys: string) => {
    const command = `${process.execPath} ${CLI} profiles delete kept`;
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
  expect(no.text).toContain('Delete profile "kept" for good? [y/N]');
  expect(no.text).toContain('Nothing was changed');
  expect(no.code).toBe(1);
  expect((await typing('\u0004')).code).toBe(1);
  expect(await client.listProfiles()).toHaveLength(1);
  const yes = await typing('yes\n');
  expect(yes.text).toContain('deleted profile "kept"');
  expect(yes.code).toBe(0);
  expect(await client.listProfiles()).toEqual([]);
});

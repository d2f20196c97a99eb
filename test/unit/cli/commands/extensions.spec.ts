import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, poolwright, test } from '../../../support/unit/cli/command-line.ts';
import { probeExtension } from '../../../support/zip.ts';

test('extensions › uploads, shows, updates and deletes', async ({ service, directory }) => {
  const zip = join(directory, 'probe.zip');
  await writeFile(zip, await probeExtension());
  const uploaded = await poolwright(['extensions', 'upload', zip, '--json'], service.env);
  expect(uploaded).toMatchObject({ code: 0 });
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

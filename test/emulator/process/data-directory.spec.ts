import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { DirectoryStore } from '../../../src/emulator/state/stores/directory-store.ts';
import { EmulatorError } from '../../../src/errors.ts';
import { expect, test } from '../../support/emulator/fixtures.ts';
import { probeExtension } from '../../support/zip.ts';

test('a data directory has one emulator at a time, also after a kill', async ({ start, directory }) => {
  const data = join(directory, 'new', 'data');
  const first = await start({ browser: 'stub', data });
  const second = start({ browser: 'stub', data });
  await expect(second).rejects.toThrow(EmulatorError);
  await expect(second).rejects.toThrow(/another emulator uses it\..*delete .*emulator\.pid/);
  await first.stop();
  expect(await readdir(data)).not.toContain('emulator.pid');
  await writeFile(join(data, 'emulator.pid'), '999999999'); // no process can have this ID
  const third = await start({ browser: 'stub', data });
  await third.stop();
});

test('logs and skips unreadable files in a data directory', async ({ start, directory }) => {
  const before = await start({ browser: 'stub', data: directory });
  const { body } = await before.api.upload('POST', '/extensions', await probeExtension());
  await before.stop();
  const store = join(directory, 'workspace-workspace-1', 'extensions');
  await mkdir(join(store, 'ext_broken'));
  await writeFile(join(store, 'ext_broken', 'record.json'), '{"id":"ext_broken","files":"../../.."}');
  const log: string[] = [];
  const after = await start({ browser: 'stub', data: directory, onLog: (line) => log.push(line) });
  expect((await after.api.get('/extensions')).body.extensions).toEqual([body.extension]);
  expect(log).toContainEqual(expect.stringContaining('ext_broken is not readable'));
  expect(existsSync(join(store, 'ext_broken', 'record.json'))).toBe(true);
});

test.describe('a store of directories', () => {
  const schema = v.object({ id: v.string(), files: v.pipe(v.string(), v.uuid()), name: v.string() });
  const open = (directory: string) =>
    new DirectoryStore<{ name: string }>({ directory: async () => directory, schema, log: () => undefined });
  const fill = (name: string) => async (directory: string) => {
    await writeFile(join(directory, name), name);
    return { name };
  };

  test('changes all files of a record at once, and leaves none behind', async ({ directory }) => {
    const store = open(directory);
    expect(await store.put('a', fill('one'))).toBe(true);
    // A failed change does not change the record.
    const failed = store.put('a', async (target) => {
      await fill('two')(target);
      throw new Error('disk full');
    });
    await expect(failed).rejects.toThrow('disk full');
    await store.copyInto('a', join(directory, 'copy-1'));
    expect(await readdir(join(directory, 'copy-1'))).toEqual(['one']);
    await store.put('a', fill('three'));
    expect(store.get('a')).toMatchObject({ name: 'three' });
    const [files] = (await readdir(join(directory, 'a'))).filter((name) => name !== 'record.json');
    expect(files).toBe(store.get('a')?.files);
    // Left by an emulator that was killed during a change.
    await mkdir(join(directory, 'a', 'half'));
    const again = open(directory);
    await again.load(() => 0);
    expect(again.records).toEqual(store.records);
    expect((await readdir(join(directory, 'a'))).sort()).toEqual(['record.json', String(files)].sort());
  });

  test('a delete overrides running and later changes', async ({ directory }) => {
    const store = open(directory);
    await store.put('a', fill('one'));
    const changed = store.put('a', fill('two'));
    const copied = store.copyInto('a', join(directory, 'copy'));
    await Promise.all([store.delete('a'), changed, copied]);
    expect(await copied).toBe(false);
    expect(await store.put('a', fill('three'))).toBe(false);
    expect(store.records).toEqual([]);
    expect(existsSync(join(directory, 'a'))).toBe(false);
  });
});

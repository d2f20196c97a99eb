import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base, expect } from '@playwright/test';
import fc from 'fast-check';
import type { RemoteObject } from '../../../../src/cdp/files/remote-object.ts';
import { filesBelow, sendFiles } from '../../../../src/cdp/files/upload-files.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const MB = 1024 * 1024;
/** How many messages may wait for their response. */
const MOST_IN_FLIGHT = 4;

const test = base.extend<{ directory: string }>({
  directory: async ({}, use) => {
    const directory = await mkdtemp(join(tmpdir(), 'poolwright-test-'));
    await use(directory);
    await rm(directory, { recursive: true });
  },
});

/** A page that collects the pieces of files, and notes each message. */
class Page {
  readonly messages: number[] = [];
  readonly contents = new Map<number, Buffer[]>();
  mostInFlight = 0;
  #inFlight = 0;

  async call(name: string, pieces: [number, string][]): Promise<void> {
    assert.equal(name, 'addPieces');
    this.#inFlight += 1;
    this.mostInFlight = Math.max(this.mostInFlight, this.#inFlight);
    let bytes = 0;
    for (const [at, base64] of pieces) {
      const piece = Buffer.from(base64, 'base64');
      bytes += piece.length;
      this.contents.set(at, [...(this.contents.get(at) ?? []), piece]);
    }
    this.messages.push(bytes);
    await new Promise((resolve) => setImmediate(resolve));
    this.#inFlight -= 1;
  }

  asRemoteObject(): RemoteObject {
    return this as unknown as RemoteObject;
  }
}

test('sends files of every size complete, in full messages, few at a time', async ({ directory }) => {
  test.setTimeout(120_000);
  const sizes = fc.array(fc.oneof(fc.nat(2_000), fc.constantFrom(0, MB - 1, MB, MB + 1, 3 * MB)), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(sizes, async (all) => {
      const files = all.map((size, at) => ({ path: join(directory, String(at)), name: `file ${at}`, size }));
      for (const { path, size } of files) await writeFile(path, Buffer.alloc(size, path));
      const page = new Page();
      const times = await sendFiles(page.asRemoteObject(), files);
      assert.equal(times.length, files.length);
      for (const [at, { path, size }] of files.entries()) {
        const content = Buffer.concat(page.contents.get(at) ?? []);
        assert.ok(content.equals(Buffer.alloc(size, path)), `file ${at} of ${size} bytes`);
      }
      const bytes = all.reduce((sum, size) => sum + size, 0);
      assert.equal(page.messages.length, Math.ceil(bytes / MB));
      assert.ok(page.mostInFlight <= MOST_IN_FLIGHT, `${page.mostInFlight} in flight`);
    }),
    propertyRuns(40, 8),
  );
});

test('sends 300 small files in one message', async ({ directory }) => {
  const files = Array.from({ length: 300 }, (_, at) => ({ path: join(directory, `${at}`), name: `${at}` }));
  for (const { path } of files) await writeFile(path, 'a small file');
  const page = new Page();
  await sendFiles(page.asRemoteObject(), files);
  expect(page.messages).toHaveLength(1);
});

test('fails with the reason when a file cannot be read, or the page is gone', async ({ directory }) => {
  const missing = { path: join(directory, 'missing'), name: 'missing' };
  await expect(sendFiles(new Page().asRemoteObject(), [missing])).rejects.toThrow('ENOENT');
  const path = join(directory, 'there');
  await writeFile(path, Buffer.alloc(6 * MB));
  const gone = { call: () => Promise.reject(new Error('the page is gone')) } as unknown as RemoteObject;
  await expect(sendFiles(gone, [{ path, name: 'there' }])).rejects.toThrow('the page is gone');
});

test('lists the files of a directory with their paths in it, and refuses more than 10,000', async ({ directory }) => {
  const root = join(directory, 'root');
  await mkdir(join(root, '.git', 'empty'), { recursive: true });
  await writeFile(join(root, '.env'), '');
  await writeFile(join(root, '.git', 'HEAD'), '');
  const found = await filesBelow(root);
  expect(found.map(({ relativePath }) => relativePath).sort()).toEqual(['root/.env', 'root/.git/HEAD']);
  expect(found.map(({ path }) => path).sort()).toEqual([join(root, '.env'), join(root, '.git', 'HEAD')]);
  await Promise.all(Array.from({ length: 10_000 }, async (_, at) => await writeFile(join(root, `${at}`), '')));
  await expect(filesBelow(root)).rejects.toMatchObject({ code: 'NOT_CARRIED' });
});

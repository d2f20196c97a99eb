import { readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { newPublicKey } from '../../../src/emulator/extensions/manifest.ts';
import { ZIP_LIMITS } from '../../../src/emulator/extensions/unpack-zip.ts';
import { ServiceClient, ServiceError } from '../../../src/service/index.ts';
import { test as base, expect, type TestEmulator } from '../../support/emulator/fixtures.ts';
import { slowIf } from '../../support/property-runs.ts';
import { manifest, probeExtension, rename, zip } from '../../support/zip.ts';

interface Fixtures {
  /** A client of an emulator, closed after the test. */
  clientOf: (emulator: TestEmulator, apiKey?: string) => ServiceClient;
  /** The mark that the probe extension leaves in a page of this session; undefined without the extension. */
  signature: (cdpUrl: string) => Promise<string | undefined>;
}

const test = base.extend<Fixtures>({
  clientOf: async ({}, use) => {
    const clients: ServiceClient[] = [];
    await use(({ baseURL, apiKey }, key = apiKey) => {
      const client = new ServiceClient({ baseURL, apiKey: key });
      clients.push(client);
      return client;
    });
    for (const client of clients) await client.close();
  },
  signature: async ({ connect, site }, use) => {
    await use(async (cdpUrl) => {
      const page = (await connect(cdpUrl)).contexts()[0]?.pages()[0] as Page;
      await page.goto(site.url);
      return await page.evaluate<string | undefined>('document.documentElement.dataset.probe');
    });
  },
});

test('an extension is uploaded, runs under the ID of the API, and is replaced', async ({
  start,
  clientOf,
  connect,
  signature,
  site,
  directory,
}) => {
  const emulator = await start({ allowLoopback: true });
  const client = clientOf(emulator);
  const path = join(directory, 'probe "1".zip');
  await writeFile(path, await probeExtension());
  const extension = await client.uploadExtension(path);
  expect(extension).toEqual({
    extensionId: expect.any(String),
    crxExtensionId: expect.stringMatching(/^[a-p]{32}$/),
    name: 'Probe',
    version: '1.2',
    createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    updatedAt: extension.createdAt,
  });
  const { extensionId, crxExtensionId } = extension;
  expect(await client.listExtensions()).toEqual([extension]);
  expect(await client.getExtension(extensionId)).toEqual(extension);

  const session = await client.createSession({ extensionIds: [extensionId] });
  expect(await signature(session.cdpUrl as string)).toBe(`${crxExtensionId} 1.2`);
  const context = (await connect(session.cdpUrl as string)).contexts()[0];
  const page = await context?.newPage();
  const answer = await page?.goto(`chrome-extension://${crxExtensionId}/manifest.json`);
  expect(await answer?.json()).toMatchObject({ name: 'Probe', version: '1.2' });
  expect(context?.serviceWorkers().map((worker) => worker.url())).toContain(
    `chrome-extension://${crxExtensionId}/worker.js`,
  );

  // As always in Chrome, incognito-like contexts have no extensions.
  const isolated = await (await connect(session.cdpUrl as string)).newPage();
  await isolated.goto(site.url);
  expect(await isolated.evaluate('document.documentElement.dataset.probe')).toBeUndefined();
  // Otherwise the next client would take its page for one of the default context.
  await isolated.context().close();

  const replaced = await client.replaceExtension(extensionId, await probeExtension({ version: '2.0' }));
  expect(replaced).toEqual({ ...extension, version: '2.0', updatedAt: expect.any(String) });
  // A running session keeps the old version; the next one gets the new version, under the same ID.
  expect(await signature(session.cdpUrl as string)).toBe(`${crxExtensionId} 1.2`);
  const next = await client.createSession({ extensionIds: [extensionId, extensionId] });
  expect(await signature(next.cdpUrl as string)).toBe(`${crxExtensionId} 2.0`);
  const plain = await client.createSession();
  expect(await signature(plain.cdpUrl as string)).toBeUndefined();

  await client.deleteExtension(extensionId);
  expect(await client.listExtensions()).toEqual([]);
  for (const gone of [
    async () => client.getExtension(extensionId),
    async () => client.deleteExtension(extensionId),
    async () => client.replaceExtension(extensionId, await probeExtension()),
    async () => client.createSession({ extensionIds: [extensionId] }),
  ]) {
    await expect(gone()).rejects.toMatchObject({ status: 404, serviceMessage: `Extension not found: ${extensionId}` });
  }
});

test("an extension with a key has that key's ID, and a name in its language", async ({
  start,
  clientOf,
  signature,
}) => {
  const emulator = await start({ allowLoopback: true });
  const client = clientOf(emulator);
  const key = await newPublicKey();
  const bytes = await zip({
    'manifest.json': manifest({ name: '__MSG_appName__', default_locale: 'en', key }),
    '_locales/en/messages.json': JSON.stringify({ appname: { message: 'Named' } }),
    '__MACOSX/._manifest.json': 'what a Mac leaves',
  });
  const extension = await client.uploadExtension(bytes);
  expect(extension.name).toBe('Named');
  const { extensionId } = await client.uploadExtension(await probeExtension({ key }));
  const session = await client.createSession({ extensionIds: [extensionId] });
  expect(await signature(session.cdpUrl as string)).toBe(`${extension.crxExtensionId} 1.2`);
});

test(
  "a pool's warm browser has its extensions, and a saved profile their data",
  slowIf(true),
  async ({ start, clientOf, connect, signature }) => {
    const emulator = await start({ allowLoopback: true });
    const client = clientOf(emulator);
    const { extensionId, crxExtensionId } = await client.uploadExtension(await probeExtension());
    const browser = { extensionIds: [extensionId], profile: { name: 'p', persist: true } };
    const pool = await client.createPool({ name: 'warm', size: 1, browser });
    const lease = await client.acquire(pool.id, { waitMs: 30_000 });
    expect(await signature(lease.cdpUrl)).toBe(`${crxExtensionId} 1.2`);
    const storage = async (cdpUrl: string) => {
      const context = (await connect(cdpUrl)).contexts()[0];
      const url = `chrome-extension://${crxExtensionId}/manifest.json`;
      const page = await context?.newPage();
      await page?.goto(url);
      return page;
    };
    const page = await storage(lease.cdpUrl);
    await page?.evaluate('chrome.storage.local.set({ seen: 1 })');
    await client.release(pool.id, lease.leaseId);
    const next = await client.createSession(browser);
    const stored = await (await storage(next.cdpUrl as string))?.evaluate('chrome.storage.local.get()');
    expect(stored).toEqual({ seen: 1 });
    // The profile also works without the extension.
    const bare = await client.createSession({ profile: { name: 'p' } });
    expect(await signature(bare.cdpUrl as string)).toBeUndefined();
  },
);

test('an extension that Chromium cannot load is a 400 with its reason', async ({ start, clientOf }) => {
  const emulator = await start();
  const client = clientOf(emulator);
  const bytes = await zip({ 'manifest.json': manifest({ background: { service_worker: 'nowhere.js' } }) });
  const { extensionId } = await client.uploadExtension(bytes);
  const failure = await client.createSession({ extensionIds: [extensionId] }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ServiceError);
  expect(failure).toMatchObject({
    status: 400,
    serviceMessage: expect.stringMatching(/^extensionIds: .*background script/),
  });
  expect(String(failure)).not.toContain(tmpdir());
  expect(emulator.browserPids()).toEqual([]);
});

const LINK = { text: '/etc/passwd', mode: 0o120777 };
const bad: [string, () => Promise<Buffer>, RegExp][] = [
  ['text', async () => Buffer.from('PK\u0003\u0004 but not a ZIP'), /^extension: not a ZIP file that can be unpacked/],
  ['half a ZIP', async () => (await probeExtension()).subarray(0, 400), /^extension: not a ZIP file/],
  [
    'a way out',
    async () => rename(await zip({ 'manifest.json': manifest(), 'xx/xx/evil.txt': 'x' }), 'xx/xx/', '../../'),
    /^extension: .*\.\.\/\.\.\/evil\.txt/,
  ],
  [
    'a way out with backslashes',
    async () => rename(await zip({ 'manifest.json': manifest(), 'xx/xx/evil.txt': 'x' }), 'xx/xx/', '..\\..\\'),
    /^extension: .*evil\.txt/,
  ],
  [
    'an absolute name',
    async () => rename(await zip({ 'manifest.json': manifest(), 'xtmp/evil.txt': 'x' }), 'xtmp/', '/tmp/'),
    /^extension: .*\/tmp\/evil\.txt/,
  ],
  ['a link', () => zip({ 'manifest.json': manifest(), 'a.js': LINK }), /^extension: a link, .*a\.js$/],
  [
    'the same name twice',
    async () => rename(await zip({ 'manifest.json': manifest(), 'a.js': '', 'b.js': '' }), 'b.js', 'a.js'),
    /^extension: the same name twice: a\.js$/,
  ],
  [
    'a file that is a directory, too',
    async () => rename(await zip({ 'manifest.json': manifest(), a: '', 'b/c': '' }), 'b/c', 'a/c'),
    /^extension: the same name twice: a\/c$/,
  ],
  [
    'a bomb',
    () => zip({ 'manifest.json': manifest(), zeros: Buffer.alloc(ZIP_LIMITS.ratioFrom + 1) }),
    /^extension: more than 100 times as large when unpacked$/,
  ],
  [
    'a bomb that lies about its size',
    async () => {
      const bytes = await zip({ 'manifest.json': manifest(), zeros: Buffer.alloc(ZIP_LIMITS.ratioFrom + 1) });
      const size = Buffer.alloc(4);
      size.writeUInt32LE(ZIP_LIMITS.ratioFrom + 1);
      return rename(bytes, size.toString('latin1'), '\u0001\u0000\u0000\u0000');
    },
    /^extension: not a ZIP file that can be unpacked: .*too many bytes/,
  ],
  [
    'too many files',
    () => zip(Object.fromEntries(Array.from({ length: ZIP_LIMITS.entries + 1 }, (_, n) => [`f${n}`, '']))),
    /^extension: more than 10000 files$/,
  ],
  ['no manifest', () => zip({ 'a.js': '' }), /^extension: manifest\.json: is missing/],
  [
    'a manifest in a directory',
    () => zip({ 'my/manifest.json': manifest() }),
    /^extension: manifest\.json: is missing.*root/,
  ],
  ['a manifest that is not JSON', () => zip({ 'manifest.json': '{' }), /^extension: manifest\.json: /],
  ['no version', () => zip({ 'manifest.json': manifest({ version: undefined }) }), /manifest\.json: version: /],
  ['a version of letters', () => zip({ 'manifest.json': manifest({ version: 'a.b' }) }), /manifest\.json: version: /],
  ['no name', () => zip({ 'manifest.json': manifest({ name: '' }) }), /manifest\.json: name: must not be empty$/],
  [
    'manifest version 1',
    () => zip({ 'manifest.json': manifest({ manifest_version: 1 }) }),
    /manifest_version: must be/,
  ],
  ['an invalid key', () => zip({ 'manifest.json': manifest({ key: '%%' }) }), /manifest\.json: key: must be/],
];

test('an invalid extension is a 400 with a reason, and leaves nothing', async ({ start, directory }) => {
  const { api } = await start({ data: directory, browser: 'stub' });
  for (const [what, make, message] of bad) {
    const answer = await api.upload('POST', '/extensions', await make());
    expect(answer, what).toEqual({ status: 400, body: { error: expect.stringMatching(message) } });
  }
  expect((await api.get('/extensions')).body).toEqual({ extensions: [] });
  expect(await readdir(directory, { recursive: true })).toEqual([
    'emulator.pid',
    'workspace-workspace-1',
    join('workspace-workspace-1', 'extensions'),
  ]);

  // A rejected replacement leaves the old one unchanged.
  const { body } = await api.upload('POST', '/extensions', await probeExtension());
  const { extensionId } = body.extension;
  const refused = await api.upload('PUT', `/extensions/${extensionId}`, await zip({ 'a.js': '' }));
  expect(refused.status).toBe(400);
  expect((await api.get(`/extensions/${extensionId}`)).body).toEqual(body);
});

test('a form without a file, and a body that is not a form, are a 400', async ({ start }) => {
  const { api } = await start({ browser: 'stub' });
  expect(await api.post('/extensions', {})).toMatchObject({
    status: 400,
    body: { error: expect.stringMatching(/multipart\/form-data/) },
  });
  const other = await api.upload('POST', '/extensions', await probeExtension(), 'file');
  expect(other).toMatchObject({ status: 400, body: { error: expect.stringMatching(/^extension: must be a file/) } });
});

test('an account without extensions gets 403 for every request', async ({ start }) => {
  const { api } = await start({ browser: 'stub', extensionAccess: false });
  const refusal = { status: 403, body: { error: 'Extensions API is not enabled for this account' } };
  const bytes = await probeExtension();
  expect(await api.upload('POST', '/extensions', bytes)).toEqual(refusal);
  expect(await api.upload('PUT', '/extensions/ext_1', bytes)).toEqual(refusal);
  expect(await api.get('/extensions')).toEqual(refusal);
  expect(await api.get('/extensions/ext_1')).toEqual(refusal);
  expect(await api.delete('/extensions/ext_1')).toEqual(refusal);
  expect(await api.create({ extensionIds: ['ext_1'] })).toEqual(refusal);
  expect(await api.post('/pools', { name: 'p', size: 1, browser: { extensionIds: ['ext_1'] } })).toEqual(refusal);
  expect((await api.create({ extensionIds: [] })).status).toBe(200);
});

test('hides extensions from other workspaces, and keeps them with --data', async ({
  start,
  clientOf,
  signature,
  directory,
}) => {
  const options = {
    allowLoopback: true,
    data: directory,
    workspaces: [{ apiKey: 'key-a' }, { apiKey: 'key-b' }],
  };
  const before = await start(options);
  const client = clientOf(before);
  const kept = await client.uploadExtension(await probeExtension());
  const { extensionId } = await client.uploadExtension(await probeExtension({ name: 'Deleted' }));
  const other = clientOf(before, 'key-b');
  expect(await other.listExtensions()).toEqual([]);
  for (const foreign of [
    async () => other.getExtension(extensionId),
    async () => other.deleteExtension(extensionId),
    async () => other.replaceExtension(extensionId, await probeExtension()),
    async () => other.createSession({ extensionIds: [extensionId] }),
    async () => other.createPool({ name: 'p', size: 1, browser: { extensionIds: [extensionId] } }),
  ]) {
    await expect(foreign()).rejects.toMatchObject({ status: 404 });
  }
  await client.deleteExtension(extensionId);
  await before.stop();

  const after = await start(options);
  const again = clientOf(after);
  expect(await again.listExtensions()).toEqual([kept]);
  const session = await again.createSession({ extensionIds: [kept.extensionId] });
  expect(await signature(session.cdpUrl as string)).toBe(`${kept.crxExtensionId} 1.2`);
});

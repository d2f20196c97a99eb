import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from '@playwright/test';
import { PoolwrightError, ServiceError } from '../../../../src/errors.ts';
import { LIMITS } from '../../../../src/service/index.ts';
import { failureOf, hangUp, json, test as serviceTest, text } from '../../../support/unit/http-service.ts';

const test = serviceTest.extend<{ directory: string }>({
  directory: async ({}, use) => {
    const directory = await mkdtemp(join(tmpdir(), 'poolwright-test-'));
    await use(directory);
    await rm(directory, { recursive: true });
  },
});

const ZIP = Buffer.from('PK\u0003\u0004 and what \u0000 follows\r\n--', 'latin1');
const extension = { extensionId: 'ext/1', crxExtensionId: 'a'.repeat(32), name: 'E', version: '1', unheardOf: 1 };

/** The file in a form of one part, with its headers. */
function part(body: unknown) {
  const [head = '', ...rest] = String(body).split('\r\n\r\n');
  const boundary = head.split('\r\n')[0] ?? '';
  const tail = `\r\n${boundary}--\r\n`;
  const content = rest.join('\r\n\r\n');
  return { head: head.split('\r\n').slice(1), file: content.slice(0, -tail.length), ends: content.endsWith(tail) };
}

test.describe('profiles', () => {
  test('are listed, and deleted by name; a missing one is ignored', async ({ service, connect }) => {
    const { client } = connect();
    const profiles = [{ profileId: 'p-1', name: 'a b', createdAt: '2030-01-01T00:00:00Z', unheardOf: 1 }];
    service.handle(json(200, { profiles }));
    expect(await client.listProfiles()).toEqual(profiles);
    service.script(hangUp, json(200, { success: true }));
    expect(await client.deleteProfile('a b&c')).toBeUndefined();
    expect(service.seen.at(-1)).toMatchObject({
      method: 'DELETE',
      path: '/v1/browser/profile',
      query: { profileName: 'a b&c' },
    });
    expect(service.calls).toHaveLength(3);
    service.handle(json(200, { success: false }));
    const failure = await failureOf(client.deleteProfile('a'), ServiceError);
    expect(failure.message).toContain('`success` is false');
    expect((await failureOf(client.deleteProfile(''), PoolwrightError)).code).toBe('REQUEST_INVALID');
  });
});

test.describe('extensions', () => {
  test('are uploaded as a form with one file, from disk or memory', async ({ service, connect, directory }) => {
    const { client } = connect();
    const path = join(directory, 'my "own".zip');
    await writeFile(path, ZIP);
    service.handle(json(201, { extension }));
    for (const [file, filename] of [
      [path, 'my %22own%22.zip'],
      [pathToFileURL(path), 'my %22own%22.zip'],
      [new Uint8Array(ZIP), 'extension.zip'],
    ] as const) {
      expect(await client.uploadExtension(file)).toEqual(extension);
      const sent = service.seen.at(-1);
      expect(sent).toMatchObject({ method: 'POST', path: '/v1/browser/extensions' });
      expect(sent?.contentType).toMatch(/^multipart\/form-data; boundary=/);
      expect(part(sent?.body)).toEqual({
        head: [
          `Content-Disposition: form-data; name="extension"; filename="${filename}"`,
          'Content-Type: application/zip',
        ],
        file: ZIP.toString('latin1'),
        ends: true,
      });
    }
  });

  test('an upload is repeated only when it cannot have had an effect', async ({ service, connect }) => {
    const { client, delays } = connect();
    service.script(json(503, { error: 'busy' }, { 'retry-after': '2' }), json(201, { extension }));
    await client.uploadExtension(ZIP);
    expect(service.calls).toHaveLength(2);
    expect(part(service.seen[1]?.body)).toMatchObject({ file: ZIP.toString('latin1'), ends: true });
    expect(delays).toEqual([2_000]);

    service.script(hangUp, json(201, { extension }));
    const failure = await failureOf(client.uploadExtension(ZIP), ServiceError);
    expect(failure.code).toBe('SERVICE_UNREACHABLE');
    expect(failure.message).toContain('may have been stored all the same: look with listExtensions');
    expect(service.calls).toHaveLength(3);
  });

  test('a replacement is always repeated, in full', async ({ service, connect, directory }) => {
    const { client } = connect();
    const path = join(directory, 'e.zip');
    await writeFile(path, ZIP);
    service.script(text(502, 'bad gateway'), json(200, { extension }));
    expect(await client.replaceExtension('ext/1', path)).toEqual(extension);
    expect(service.calls).toEqual(Array(2).fill('PUT /v1/browser/extensions/ext%2F1'));
    expect(part(service.seen[1]?.body)).toMatchObject({ file: ZIP.toString('latin1'), ends: true });
  });

  test('are listed, got and deleted', async ({ service, connect }) => {
    const { client } = connect();
    service.handle(json(200, { extensions: [extension] }));
    expect(await client.listExtensions()).toEqual([extension]);
    service.handle(json(200, { extension }));
    expect(await client.getExtension('ext/1')).toEqual(extension);
    // The answer to the first was lost: it is deleted all the same.
    service.script(hangUp, json(404, { error: 'Extension not found' }));
    expect(await client.deleteExtension('ext/1')).toBeUndefined();
    service.handle(json(404, { error: 'Extension not found' }));
    const failure = await failureOf(client.deleteExtension('ext/1'), ServiceError);
    expect(failure.code).toBe('SERVICE_NOT_FOUND');
    expect(failure.message).toContain('extension ext/1');
    service.handle(json(403, { error: 'Extensions API is not enabled for this account' }));
    expect((await failureOf(client.listExtensions(), ServiceError)).code).toBe('SERVICE_FORBIDDEN');
  });

  test('an invalid file is not sent, and the message names the problem', async ({ service, connect, directory }) => {
    const { client } = connect();
    const note = join(directory, 'note.txt');
    await writeFile(note, 'no ZIP');
    const huge = join(directory, 'huge.zip');
    await writeFile(huge, ZIP);
    await truncate(huge, LIMITS.extensionBytes.max + 1);
    for (const [file, problem] of [
      [note, `${note}: not a ZIP file`],
      [join(directory, 'none.zip'), 'cannot be read: ENOENT'],
      [directory, 'cannot be read: EISDIR'],
      [huge, `${huge}: must have at most ${LIMITS.extensionBytes.max} bytes, has `],
      [new Uint8Array(2), 'not a ZIP file'],
      [42, 'must be the path of a ZIP file, or its bytes'],
    ] as const) {
      const calls = [
        () => client.uploadExtension(file as string),
        () => client.replaceExtension('ext_1', file as string),
      ];
      for (const send of calls) {
        const failure = await failureOf(send(), PoolwrightError);
        expect(failure.code).toBe('REQUEST_INVALID');
        expect(failure.message).toContain(problem);
      }
    }
    expect((await failureOf(client.getExtension(''), PoolwrightError)).code).toBe('REQUEST_INVALID');
    expect(service.calls).toEqual([]);
  });
});

test('lists dedicated IPs with undocumented fields', async ({ service, connect }) => {
  service.handle(json(200, { ips: [{ ip: '192.0.2.1', country: 'DE', health: 'good' }, {}] }));
  expect(await connect().client.listDedicatedIps()).toEqual([{ ip: '192.0.2.1', country: 'DE', health: 'good' }, {}]);
  expect(service.calls).toEqual(['GET /v1/network/ips']);
});

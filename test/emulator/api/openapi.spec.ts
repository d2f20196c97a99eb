import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import openapiTS, { astToString } from 'openapi-typescript';
import { expect, test } from '../../support/emulator/fixtures.ts';
import { runNode } from '../../support/emulator/run-node.ts';

/** The native compiler takes a fourth of the processor time. */
const tsc = join(import.meta.dirname, '../../../node_modules/typescript-native/bin/tsc');

async function describe(baseURL: string): Promise<string> {
  return await (await fetch(`${baseURL}/doc`)).text();
}

test("/doc passes Redocly's linter, warnings counted as errors", async ({ start }) => {
  const source = await describe((await start({ browser: 'stub' })).baseURL);
  const config = await createConfig({ extends: ['recommended-strict'] });
  const lint = async (text: string) =>
    (await lintFromString({ source: text, absoluteRef: 'doc.json', config })).map(
      ({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`,
    );
  expect(await lint(source)).toEqual([]);
  // This proves that the linter checks schemas: an invalid one is an error.
  expect(await lint(source.replace('"additionalProperties":{}', '"additionalProperties":{"type":7}'))).toEqual([
    expect.stringMatching(/^struct: /),
  ]);
});

/** A program written only from /doc with a generator. Lines that must not compile are marked. */
const CONSUMER = `
import createClient from 'openapi-fetch';
import type { paths } from './api.js';

declare const process: { env: Record<string, string | undefined> };

const client = createClient<paths>({
  baseUrl: process.env.SERVICE ?? '',
  headers: { Authorization: 'Bearer ' + process.env.SERVICE_KEY },
});

function must<T>({ data, error, response }: { data?: T; error?: { error: string }; response: Response }): T {
  if (data === undefined) throw new Error(response.status + ': ' + error?.error);
  return data;
}

const note = 'from a generated client';
const created = must(await client.POST('/v1/browser/session', { body: { note, duration: 60, country: 'DE' } }));
const sessionId: string = created.sessionId;
const query = { sessionId };
const listed = must(await client.GET('/v1/browser/sessions', { params: { query: { status: 'active' } } }));
const got = must(await client.GET('/v1/browser/session', { params: { query } }));
const noted = must(await client.PATCH('/v1/browser/session', { params: { query }, body: { note: null } }));
const stopped = must(await client.DELETE('/v1/browser/session', { params: { query } }));

const pool = must(await client.POST('/v1/browser/pools', { body: { name: 'generated', size: 1 } }));
const path = { poolId: pool.id };
const acquire = '/v1/browser/pools/{poolId}/acquire';
const lease = must(await client.POST(acquire, { params: { path }, body: { waitMs: 30_000 } }));
const release = '/v1/browser/pools/{poolId}/release';
const released = must(await client.POST(release, { params: { path }, body: { leaseId: lease.leaseId } }));
const deleted = must(await client.DELETE('/v1/browser/pools/{poolId}', { params: { path } }));

// @ts-expect-error: a number
const text = await client.POST('/v1/browser/session', { body: { duration: '60' } });
// An unknown field: the generated types allow it, the service does not.
const unknown = await client.POST('/v1/browser/session', { body: { colour: 'red' } });
// @ts-expect-error: no such type
const type = await client.POST('/v1/browser/session', { body: { type: 'local' } });
// @ts-expect-error: the ID is missing
const missing = await client.GET('/v1/browser/session', {});
// @ts-expect-error: a pool has a size
const sizeless = await client.POST('/v1/browser/pools', { body: { name: 'p' } });

const refused = [text, unknown, type, missing, sizeless].map(({ response, error }) => [response.status, error?.error]);
const leased = { leaseId: lease.leaseId, sessionId: lease.sessionId };
console.log(JSON.stringify({ created, listed, got, noted, stopped, pool, leased, released, deleted, refused }));
`;

const compilerOptions = {
  strict: true,
  noEmitOnError: true,
  target: 'es2022',
  module: 'nodenext',
  lib: ['es2022', 'dom', 'dom.iterable'],
  types: [],
};

test('a client generated from /doc compiles and works', async ({ start }, testInfo) => {
  const { api, baseURL, apiKey } = await start({ browser: 'stub' });
  // Below the repository, where openapi-fetch is found.
  const directory = testInfo.outputPath('generated');
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'package.json'), '{"type":"module"}');
  await writeFile(join(directory, 'api.d.ts'), astToString(await openapiTS(await describe(baseURL))));
  await writeFile(join(directory, 'consumer.ts'), CONSUMER);
  await writeFile(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }));
  const compiled = await runNode([tsc, '--project', directory]);
  expect([compiled.stdout, compiled.code]).toEqual(['', 0]);

  const consumer = await runNode([join(directory, 'consumer.js')], { SERVICE: baseURL, SERVICE_KEY: apiKey });
  expect([consumer.stderr, consumer.code]).toEqual(['', 0]);
  const { created, leased, pool, ...answers } = JSON.parse(consumer.stdout);
  const { sessionId } = created;
  expect(created).toMatchObject({ status: 'active', note: 'from a generated client' });
  expect(answers).toMatchObject({
    listed: { sessions: [{ sessionId }] },
    got: { sessionId, status: 'active' },
    noted: { sessionId, note: null },
    stopped: { success: true },
    released: { ...leased, poolId: pool.id },
    deleted: { success: true },
    refused: [
      [400, expect.stringMatching(/^duration: /)],
      [400, 'colour: unknown field'],
      [400, expect.stringMatching(/^type: /)],
      [400, 'sessionId: is required'],
      [400, expect.stringMatching(/^size: /)],
    ],
  });
  // The client used this emulator, and left nothing.
  expect((await api.session(sessionId)).body.status).toBe('completed');
  expect((await api.session(leased.sessionId)).body.status).toBe('completed');
  expect(await api.active()).toEqual([]);
  expect((await api.get('/pools')).body).toEqual({ pools: [] });
});

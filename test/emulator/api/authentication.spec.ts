import { Api } from '../../support/emulator/api.ts';
import { expect, test } from '../../support/emulator/fixtures.ts';

/** The parts of an OpenAPI description that the test reads. */
interface OpenApi {
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
}
interface Operation {
  security: unknown;
  responses: object;
  requestBody: { content: Record<string, { schema: unknown }> };
}

test.use({ onStubs: true });

const MISSING = { error: 'Unauthorized: Missing or invalid Authorization header' };

test.describe('authentication', () => {
  test('responds with the documented messages', async ({ start }) => {
    const { baseURL, apiKey } = await start({ apiKey: 'key-1' });
    const ask = async (authorization?: string) => {
      const response = await fetch(`${baseURL}/v1/browser/sessions`, {
        headers: authorization ? { authorization } : {},
      });
      return [response.status, await response.json()];
    };
    expect(await ask()).toEqual([401, MISSING]);
    expect(await ask('Basic a2V5')).toEqual([401, MISSING]);
    expect(await ask('Bearer')).toEqual([401, MISSING]);
    expect(await ask('Bearer other')).toEqual([401, { error: 'Unauthorized: Invalid token' }]);
    expect((await ask(`Bearer ${apiKey}`))[0]).toBe(200);
  });

  test('comes before everything else, also for unknown paths', async ({ start }) => {
    const { baseURL, api } = await start();
    const response = await fetch(`${baseURL}/v1/nothing`, { method: 'POST', body: '{' });
    expect(response.status).toBe(401);
    expect(await api.call('GET', '/v1/nothing')).toEqual({ status: 404, body: { error: 'Not found' } });
  });

  test("hides one workspace's resources from another", async ({ start }) => {
    const emulator = await start({ workspaces: [{ apiKey: 'key-a' }, { apiKey: 'key-b' }] });
    const a = emulator.api;
    const b = new Api(emulator.baseURL, 'key-b');
    const { sessionId } = (await a.create()).body;
    const pool = (await a.post('/pools', { name: 'shared name', size: 1 })).body;
    await expect.poll(async () => (await a.get(`/pools/${pool.id}`)).body.ready).toBe(1);
    const lease = (await a.post(`/pools/${pool.id}/acquire`, {})).body;

    const noSession = { status: 404, body: { error: 'Session not found' } };
    expect(await b.session(sessionId)).toEqual(noSession);
    expect(await b.stop(sessionId)).toEqual(noSession);
    expect(await b.session(lease.sessionId)).toEqual(noSession);
    const noPool = { status: 404, body: { error: 'Pool not found' } };
    expect(await b.get(`/pools/${pool.id}`)).toEqual(noPool);
    expect(await b.post(`/pools/${pool.id}/acquire`, {})).toEqual(noPool);
    expect(await b.post(`/pools/${pool.id}/release`, { leaseId: lease.leaseId })).toEqual(noPool);
    expect((await b.get('/sessions')).body.sessions).toEqual([]);
    expect((await b.get('/pools')).body.pools).toEqual([]);
    // Each workspace has separate names and limits.
    expect((await b.post('/pools', { name: 'shared name', size: 1 })).status).toBe(201);
    expect((await a.session(sessionId)).body.status).toBe('active');
  });
});

test('/doc describes the API, without a key', async ({ start }) => {
  const { baseURL } = await start();
  const response = await fetch(`${baseURL}/doc`);
  expect(response.status).toBe(200);
  const doc = (await response.json()) as OpenApi;
  expect(doc.info.version).toBe('1.0.0');
  expect(Object.keys(doc.paths).sort()).toEqual([
    '/v1/account/balance',
    '/v1/account/billing',
    '/v1/browser/extensions',
    '/v1/browser/extensions/{extensionId}',
    '/v1/browser/pools',
    '/v1/browser/pools/{poolId}',
    '/v1/browser/pools/{poolId}/acquire',
    '/v1/browser/pools/{poolId}/flush',
    '/v1/browser/pools/{poolId}/release',
    '/v1/browser/profile',
    '/v1/browser/profiles',
    '/v1/browser/session',
    '/v1/browser/sessions',
    '/v1/network/ips',
  ]);
  const create = doc.paths['/v1/browser/session']?.post;
  expect(create?.security).toEqual([{ bearer: [] }]);
  expect(Object.keys(create?.responses ?? {})).toEqual(expect.arrayContaining(['200', '403', '504']));
  expect(create?.requestBody.content['application/json']?.schema).toMatchObject({
    additionalProperties: false,
    properties: { duration: { minimum: 60, maximum: 3600 }, note: { maxLength: 256 } },
  });
  const replace = doc.paths['/v1/browser/extensions/{extensionId}']?.put;
  expect(replace?.requestBody.content['multipart/form-data']?.schema).toMatchObject({
    properties: { extension: { type: 'string', format: 'binary' } },
    required: ['extension'],
  });
});

import { ServiceError } from '../../../../src/errors.ts';
import {
  expect,
  failureOf,
  type Handler,
  hangUp,
  json,
  type Seen,
  sessionBody,
  test,
} from '../../../support/unit/http-service.ts';

const ACQUIRE = 'POST /v1/browser/pools/pool_e2e/acquire';
const RELEASE = 'POST /v1/browser/pools/pool_e2e/release';
const released = {
  poolId: 'pool_e2e',
  leaseId: 'l-1',
  sessionId: 's-1',
  status: 'ended',
  returnedAt: '2030-01-01T00:00:00Z',
};
const byPath = (routes: Record<string, Handler>) => (request: Seen, response: Parameters<Handler>[1]) =>
  (routes[`${request.method} ${request.path}`] ?? json(404, { error: 'Session not found' }))(request, response);

test.describe('the CDP address of an acquire', () => {
  const expected = { leaseId: 'l-1', poolId: 'pool_e2e', sessionId: 's-1', cdpUrl: 'wss://n/s-1' };

  test('is next to the lease', async ({ service, connect }) => {
    service.handle(
      json(200, { leaseId: 'l-1', sessionId: 's-1', cdpUrl: 'wss://n/s-1', servedBy: 'node-2', extra: 1 }),
    );
    expect(await connect().client.acquire('pool_e2e', { waitMs: 500 })).toEqual({
      ...expected,
      servedBy: 'node-2',
      createdAt: null,
    });
    expect(service.seen[0]).toMatchObject({ path: '/v1/browser/pools/pool_e2e/acquire', body: { waitMs: 500 } });
  });

  test('is inside the session; the request has a JSON body even if empty', async ({ service, connect }) => {
    const session = sessionBody('s-1', { cdpUrl: 'wss://n/s-1', createdAt: '2030-01-01T00:00:00Z' });
    service.handle(json(200, { leaseId: 'l-1', session }));
    expect(await connect().client.acquire('pool_e2e')).toEqual({
      ...expected,
      servedBy: 'node-1',
      createdAt: '2030-01-01T00:00:00Z',
    });
    expect(service.seen[0]).toMatchObject({ body: {}, contentType: 'application/json' });
  });

  test('is read from the session when the response has none', async ({ service, connect }) => {
    service.handle(
      byPath({
        [ACQUIRE]: json(200, { leaseId: 'l-1', sessionId: 's-1' }),
        'GET /v1/browser/session': json(200, sessionBody('s-1', { cdpUrl: 'wss://n/s-1', createdAt: null })),
      }),
    );
    expect(await connect().client.acquire('pool_e2e')).toEqual({ ...expected, servedBy: 'node-1', createdAt: null });
    expect(service.seen[1]?.query).toEqual({ sessionId: 's-1' });
  });
});

test.describe('an unusable lease is released', () => {
  const cases: Array<[string, object, object, RegExp]> = [
    [
      'no address anywhere',
      { leaseId: 'l-1', sessionId: 's-1', cdpUrl: null },
      sessionBody('s-1', { cdpUrl: null }),
      /\(lease l-1\).*no `cdpUrl`, neither in it nor in session s-1/,
    ],
    ['no session', { leaseId: 'l-1', cdpUrl: 'wss://n/x' }, {}, /no `sessionId`/],
    [
      'a field of the wrong type',
      { leaseId: 'l-1', sessionId: 's-1', session: { cdpUrl: 5 } },
      {},
      /`session\.cdpUrl`: must be a string/,
    ],
  ];
  for (const [name, lease, session, says] of cases) {
    test(name, async ({ service, connect }) => {
      service.handle(
        byPath({
          [ACQUIRE]: json(200, lease),
          'GET /v1/browser/session': json(200, session),
          [RELEASE]: json(200, released),
        }),
      );
      const failure = await failureOf(connect().client.acquire('pool_e2e'), ServiceError);
      expect(failure.code).toBe('SERVICE_BAD_RESPONSE');
      expect(failure.message).toMatch(says);
      expect(failure.message).toContain('Lease l-1 was released.');
      expect(service.calls.at(-1)).toBe(RELEASE);
      expect(service.seen.at(-1)?.body).toEqual({ leaseId: 'l-1' });
      expect(service.calls.filter((call) => call === ACQUIRE)).toHaveLength(1);
    });
  }

  test('when its session cannot be read; a failed release is reported', async ({ service, connect }) => {
    service.handle(
      byPath({ [ACQUIRE]: json(200, { leaseId: 'l-1', sessionId: 's-1' }), [RELEASE]: json(401, { error: 'no' }) }),
    );
    const failure = await failureOf(connect().client.acquire('pool_e2e'), ServiceError);
    expect(failure.code).toBe('SERVICE_NOT_FOUND');
    expect(failure.message).toContain('Lease l-1 could not be released');
    expect(service.calls).toEqual([ACQUIRE, 'GET /v1/browser/session', RELEASE]);
  });
});

test.describe('an acquire that fails', () => {
  test('is sent three times to an empty pool, once to a paused one', async ({ service, connect }) => {
    service.handle(json(409, { error: 'No browser is currently ready in this pool' }));
    const empty = connect();
    const failure = await failureOf(empty.client.acquire('pool_e2e'), ServiceError);
    expect(failure).toMatchObject({ code: 'SERVICE_POOL_EMPTY', status: 409, retryable: true, attempts: 3 });
    expect(empty.delays).toEqual([1000, 2000]);
    service.seen.length = 0;
    service.handle(json(409, { error: 'Pool is paused' }));
    const paused = await failureOf(connect().client.acquire('pool_e2e'), ServiceError);
    expect(paused).toMatchObject({ code: 'SERVICE_CONFLICT', retryable: false });
    expect(service.seen).toHaveLength(1);
  });

  test('is not repeated after a lost response, and the error says when the lease ends', async ({
    service,
    connect,
  }) => {
    service.handle(hangUp);
    const failure = await failureOf(connect().client.acquire('pool_e2e'), ServiceError);
    expect(failure.code).toBe('SERVICE_UNREACHABLE');
    expect(failure.message).toContain("ends by itself at the pool's `leaseTimeoutSeconds` (default 900 s)");
    expect(service.calls).toEqual([ACQUIRE]);
  });

  test('is repeated once after a 500', async ({ service, connect }) => {
    service.script(json(500, { error: 'boom' }), json(200, { leaseId: 'l-2', sessionId: 's-2', cdpUrl: 'wss://n/2' }));
    expect((await connect().client.acquire('pool_e2e')).leaseId).toBe('l-2');
    expect(service.calls).toEqual([ACQUIRE, ACQUIRE]);
  });

  test('has a time limit longer than the wait it requests', async ({ service, connect }) => {
    service.handle((_request, response) => {
      setTimeout(() => json(200, { leaseId: 'l-1', sessionId: 's-1', cdpUrl: 'wss://n/1' })(_request, response), 120);
    });
    const { client } = connect({ timeout: 60 });
    const failure = await failureOf(client.acquire('pool_e2e', { waitMs: 0 }), ServiceError);
    expect(failure.code).toBe('TIMEOUT');
    expect((await client.acquire('pool_e2e', { waitMs: 5000 })).leaseId).toBe('l-1');
  });
});

test('a release is repeated after a lost response', async ({ service, connect }) => {
  service.script(hangUp, json(200, released));
  expect(await connect().client.release('pool_e2e', 'l-1')).toEqual(released);
  expect(service.calls).toEqual([RELEASE, RELEASE]);
});

test('an unknown lease is named', async ({ service, connect }) => {
  service.handle(json(404, { error: 'Pool lease not found' }));
  const failure = await failureOf(connect().client.release('pool_e2e', 'l-7'), ServiceError);
  expect(failure.message).toContain(`${RELEASE} (lease l-7) responded with 404 "Pool lease not found".`);
});

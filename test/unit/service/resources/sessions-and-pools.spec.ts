import { ServiceError } from '../../../../src/errors.ts';
import type { Session } from '../../../../src/service/index.ts';
import {
  expect,
  failureOf,
  type Handler,
  hangUp,
  json,
  poolBody,
  sessionBody,
  test,
  text,
} from '../../../support/unit/http-service.ts';

async function collect(sessions: AsyncIterable<Session>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { sessionId } of sessions) ids.push(sessionId);
  return ids;
}

/** Pages of `total` sessions, `size` at most per page; `says`: whether a page states its size. */
function pages(total: number, size: number, says: boolean): Handler {
  const all = Array.from({ length: total }, (_, index) => sessionBody(`s-${index}`));
  return (request, response) => {
    const start = (Number(request.query.page) - 1) * size;
    json(200, { sessions: all.slice(start, start + size), ...(says ? { pageSize: size } : {}) })(request, response);
  };
}

test.describe('sessions', () => {
  test('get, update and stop name the session in the query', async ({ service, connect }) => {
    const { client } = connect();
    service.handle(json(200, sessionBody('s 1&x', { bandwidthBytes: 5, unheardOf: true })));
    expect(await client.getSession('s 1&x')).toMatchObject({ sessionId: 's 1&x', bandwidthBytes: 5, unheardOf: true });
    await client.updateSession('s 1&x', { note: 'new' });
    service.handle(json(200, { success: true }));
    expect(await client.stopSession('s 1&x')).toBeUndefined();
    expect(service.seen.map(({ method, query, body }) => ({ method, query, body }))).toEqual([
      { method: 'GET', query: { sessionId: 's 1&x' }, body: undefined },
      { method: 'PATCH', query: { sessionId: 's 1&x' }, body: { note: 'new' } },
      { method: 'DELETE', query: { sessionId: 's 1&x' }, body: undefined },
    ]);
  });

  test('a stop that reports no success is an error; one without a body is not', async ({ service, connect }) => {
    const { client } = connect();
    service.handle(json(200, { success: false }));
    const failure = await failureOf(client.stopSession('s-1'), ServiceError);
    expect(failure.code).toBe('SERVICE_BAD_RESPONSE');
    expect(failure.message).toContain('`success` is false');
    service.handle((_request, response) => {
      response.writeHead(204).end();
    });
    expect(await client.stopSession('s-1')).toBeUndefined();
  });

  test('accepts an unknown status, and names the path of a wrong field', async ({ service, connect }) => {
    const { client } = connect();
    service.handle(json(200, { sessions: [sessionBody('s-1', { status: 'hibernating' })] }));
    expect((await client.listSessions({ status: 'active', page: 2 })).sessions[0]?.status).toBe('hibernating');
    expect(service.seen[0]?.query).toEqual({ status: 'active', page: '2' });
    service.handle(json(200, { sessions: [sessionBody('s-1'), { ...sessionBody('s-2'), sessionId: 7 }] }));
    const failure = await failureOf(client.listSessions(), ServiceError);
    expect(failure).toMatchObject({ code: 'SERVICE_BAD_RESPONSE', status: 200 });
    expect(failure.message).toContain('`sessions[1].sessionId`: must be a string, got 7');
    service.handle(text(200, '<html>login</html>'));
    expect((await failureOf(client.listSessions(), ServiceError)).message).toContain(
      'a body of 18 characters that is not JSON',
    );
  });
});

test.describe('all pages', () => {
  const range = (count: number) => Array.from({ length: count }, (_, index) => `s-${index}`);

  test('stops at a short page when pages state their size', async ({ service, connect }) => {
    service.handle(pages(5, 2, true));
    expect(await collect(connect().client.iterateSessions({ status: 'active' }))).toEqual(range(5));
    expect(service.seen.map(({ query }) => query)).toEqual(
      ['1', '2', '3'].map((page) => ({ status: 'active', page, pageSize: '100' })),
    );
  });

  test('finds all sessions when the service silently clamps the page size', async ({ service, connect }) => {
    service.handle(pages(5, 2, false));
    expect(await collect(connect().client.iterateSessions())).toEqual(range(5));
    expect(service.seen).toHaveLength(3);
  });

  test('stops at an empty or a repeated page', async ({ service, connect }) => {
    const { client } = connect();
    service.handle(pages(4, 2, true));
    expect(await collect(client.iterateSessions({ pageSize: 2 }))).toEqual(range(4));
    expect(service.seen).toHaveLength(3);
    service.seen.length = 0;
    service.handle(json(200, { sessions: [sessionBody('s-0'), sessionBody('s-1')] }));
    expect(await collect(client.iterateSessions())).toEqual(range(2));
    expect(service.seen).toHaveLength(2);
  });

  test('sends no more requests when the caller stops reading', async ({ service, connect }) => {
    service.handle(pages(500, 100, true));
    for await (const { sessionId } of connect().client.iterateSessions()) {
      if (sessionId === 's-3') break;
    }
    expect(service.seen).toHaveLength(1);
  });
});

test.describe('pools', () => {
  test('create, get, list, update, flush', async ({ service, connect }) => {
    const { client } = connect();
    service.handle(json(201, poolBody('pool_one', { surprise: [1] })));
    expect(await client.createPool({ name: 'one', size: 2 })).toMatchObject({ id: 'pool_one', surprise: [1] });
    expect((await client.getPool('pool_one')).status).toBe('ready');
    await client.updatePool('pool_one', { paused: true });
    service.handle(json(200, { pools: [poolBody('pool_one'), poolBody('pool_two')] }));
    expect((await client.listPools()).map(({ id }) => id)).toEqual(['pool_one', 'pool_two']);
    service.handle(json(200, { stopped: 3 }));
    expect(await client.flushPool('pool_one')).toEqual({ stopped: 3 });
    expect(service.calls).toEqual([
      'POST /v1/browser/pools',
      'GET /v1/browser/pools/pool_one',
      'PATCH /v1/browser/pools/pool_one',
      'GET /v1/browser/pools',
      'POST /v1/browser/pools/pool_one/flush',
    ]);
    expect(service.seen[2]?.body).toEqual({ paused: true });
  });

  test('accepts a base address with a path, and encodes IDs', async ({ service, connect }) => {
    const { client } = connect({ baseURL: `${service.baseURL}/gateway/` });
    service.handle((request, response) => json(200, poolBody('pool/../x', { path: request.path }))(request, response));
    expect((await client.getPool('pool/../x')).path).toBe('/gateway/v1/browser/pools/pool%2F..%2Fx');
  });

  test('delete: sends force only on request; a pool that is gone after a lost response counts as deleted', async ({
    service,
    connect,
  }) => {
    const { client } = connect();
    service.handle(json(200, { success: true }));
    await client.deletePool('pool_one');
    await client.deletePool('pool_one', { force: true });
    expect(service.seen.map(({ query }) => query)).toEqual([{}, { force: 'true' }]);
    service.script(hangUp, json(404, { error: 'Pool not found' }));
    expect(await client.deletePool('pool_one')).toBeUndefined();
    service.script(json(404, { error: 'Pool not found' }));
    expect((await failureOf(client.deletePool('pool_one'), ServiceError)).code).toBe('SERVICE_NOT_FOUND');
  });

  test('does not repeat a create whose response is lost, and reports the unknown outcome', async ({
    service,
    connect,
  }) => {
    service.handle(hangUp);
    const failure = await failureOf(connect().client.createPool({ name: 'one', size: 2 }), ServiceError);
    expect(failure.message).toContain('The pool "one" may have been made all the same');
    expect(service.seen).toHaveLength(1);
  });
});

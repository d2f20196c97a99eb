import { PoolwrightError, ServiceError } from '../../../../src/errors.ts';
import {
  API_KEY,
  cutShort,
  everythingOf,
  expect,
  failureOf,
  hangUp,
  json,
  silence,
  test,
  text,
} from '../../../support/unit/http-service.ts';

test.describe('statuses become codes', () => {
  const cases = [
    {
      status: 400,
      error: 'windowSize must match WIDTHxHEIGHT',
      code: 'SERVICE_BAD_REQUEST',
      says: /windowSize must match/,
    },
    { status: 401, error: 'Unauthorized: Invalid token', code: 'SERVICE_UNAUTHORIZED', says: /POOLWRIGHT_API_KEY/ },
    { status: 402, error: 'Insufficient balance', code: 'SERVICE_OUT_OF_CREDIT', says: /topped up/ },
    { status: 403, error: 'Session limit reached', code: 'SERVICE_LIMIT_REACHED', says: /fewer workers/ },
    {
      status: 403,
      error: 'Extensions API is not enabled for this account',
      code: 'SERVICE_FORBIDDEN',
      says: /Extensions API/,
    },
    { status: 404, error: 'Session not found', code: 'SERVICE_NOT_FOUND', says: /\(session s-1\)/ },
    { status: 409, error: 'Pool has active leases', code: 'SERVICE_CONFLICT', says: /active leases/ },
    { status: 418, error: 'teapot', code: 'SERVICE_BAD_REQUEST', says: /responded with 418 "teapot"/ },
  ] as const;
  for (const { status, error, code, says } of cases) {
    test(`${status} "${error}" is ${code}, and is not repeated`, async ({ service, connect }) => {
      service.handle(json(status, { error }));
      const { client, delays } = connect();
      const failure = await failureOf(client.getSession('s-1'), ServiceError);
      expect(failure).toMatchObject({
        code,
        status,
        serviceMessage: error,
        request: 'GET /v1/browser/session',
        retryable: false,
        attempts: 1,
      });
      expect(failure.message).toContain(`GET /v1/browser/session (session s-1) responded with ${status} "${error}".`);
      expect(failure.message).toMatch(says);
      expect(service.seen).toHaveLength(1);
      expect(delays).toEqual([]);
    });
  }

  test('a code in the body overrides the status', async ({ service, connect }) => {
    service.handle(json(403, { error: 'Not yours', code: 'dedicated_ip_not_owned' }));
    const failure = await failureOf(
      connect().client.createSession({ proxyUrl: 'dedicated://192.0.2.7' }),
      ServiceError,
    );
    expect(failure).toMatchObject({ code: 'SERVICE_FORBIDDEN', serviceCode: 'dedicated_ip_not_owned' });
    expect(failure.message).toContain('not of this workspace');
  });

  test('blames the address when a refusal is not JSON, or a redirect', async ({ service, connect }) => {
    const { client } = connect();
    service.handle(text(404, '<h1>Not here</h1>'));
    const missing = await failureOf(client.listPools(), ServiceError);
    expect(missing).toMatchObject({ code: 'SERVICE_NOT_FOUND', serviceMessage: '<h1>Not here</h1>' });
    expect(missing.message).toContain('check POOLWRIGHT_BASE_URL');
    service.handle(text(301, '', { location: 'https://elsewhere.example.test/' }));
    const moved = await failureOf(client.listPools(), ServiceError);
    expect(moved).toMatchObject({ code: 'SERVICE_BAD_RESPONSE', status: 301, retryable: false });
    expect(moved.message).toContain('check POOLWRIGHT_BASE_URL');
  });

  test('uses the status when the body of a refusal is lost', async ({ service, connect }) => {
    service.handle(cutShort(402, '{"error":"Insuff'));
    const failure = await failureOf(connect().client.createSession(), ServiceError);
    expect(failure).toMatchObject({ code: 'SERVICE_OUT_OF_CREDIT', status: 402 });
    expect(service.seen).toHaveLength(1);
  });
});

test.describe('no response', () => {
  test('names host, cause and what to check when a connection is refused twice', async ({ service, connect }) => {
    const { client, delays } = connect();
    await service.stop();
    const failure = await failureOf(client.listPools(), ServiceError);
    expect(failure).toMatchObject({ code: 'SERVICE_UNREACHABLE', status: 0, attempts: 2, retryable: true });
    expect(failure.message).toBe(
      `GET /v1/browser/pools got no response from ${service.host} (ECONNREFUSED: nothing listens there). Check POOLWRIGHT_BASE_URL (or \`baseURL\`) and the network. (2 requests were sent)`,
    );
    expect(delays).toEqual([1000]);
  });

  test('repeats an idempotent call when the connection breaks before or during the response', async ({
    service,
    connect,
  }) => {
    for (const handler of [hangUp, cutShort(200, '{"pools":[')]) {
      const { client, delays } = connect();
      service.seen.length = 0;
      service.handle(handler);
      const failure = await failureOf(client.listPools(), ServiceError);
      expect(failure).toMatchObject({ code: 'SERVICE_UNREACHABLE', status: 0, attempts: 2 });
      expect(failure.message).toContain('the connection broke');
      expect(service.seen).toHaveLength(2);
      expect(delays).toEqual([1000]);
    }
  });

  test('applies the time limit to headers and body, and names it', async ({ service, connect }) => {
    const { client } = connect({ timeout: 50 });
    service.handle(silence);
    const noHeaders = await failureOf(client.listPools({ retry: 'none' }), ServiceError);
    expect(noHeaders).toMatchObject({ code: 'TIMEOUT', status: 0, attempts: 1 });
    expect(noHeaders.message).toContain(`within 50 ms (\`timeout\`)`);
    service.handle((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{');
    });
    const noEnd = await failureOf(client.listPools({ timeout: 60 }), ServiceError);
    expect(noEnd).toMatchObject({ code: 'TIMEOUT', attempts: 2 });
    expect(noEnd.message).toContain('within 60 ms');
  });
});

test.describe('cancelled', () => {
  test('the signal ends a running call', async ({ service, connect }) => {
    const controller = new AbortController();
    service.handle(() => controller.abort());
    const failure = await failureOf(connect().client.listPools({ signal: controller.signal }), PoolwrightError);
    expect(failure.code).toBe('ABORTED');
    expect(failure.message).toContain('GET /v1/browser/pools was cancelled');
    expect(service.seen).toHaveLength(1);
  });

  test('sends nothing when the signal has fired, and throws its PoolwrightError', async ({ service, connect }) => {
    const reason = new PoolwrightError('ACQUIRE_TIMEOUT', 'no browser in time');
    const failure = await failureOf(connect().client.listPools({ signal: AbortSignal.abort(reason) }), PoolwrightError);
    expect(failure).toBe(reason);
    expect(service.seen).toHaveLength(0);
  });

  test('the signal ends a wait before a retry', async ({ service, connect }) => {
    service.handle(json(503, { error: 'busy' }));
    const controller = new AbortController();
    const { client } = connect({
      sleep: async (_ms, signal) => {
        controller.abort();
        signal.throwIfAborted();
      },
    });
    const failure = await failureOf(client.listPools({ signal: controller.signal }), PoolwrightError);
    expect(failure.code).toBe('ABORTED');
    expect(service.seen).toHaveLength(1);
  });

  test('a closed client sends nothing', async ({ service, connect }) => {
    const { client } = connect();
    await client.close();
    await client.close();
    expect((await failureOf(client.listPools(), PoolwrightError)).message).toContain('this ServiceClient is closed');
    expect(service.seen).toHaveLength(0);
  });

  test('closing the client ends a wait before a retry at once', async ({ service, connect }) => {
    service.handle(json(503, { error: 'busy' }));
    const { client } = connect({ sleep: undefined, onRetry: () => void client.close() });
    const failure = await failureOf(client.listPools(), PoolwrightError);
    expect(failure.code).toBe('ABORTED');
    expect(service.seen).toHaveLength(1);
  });
});

test.describe('no secret in an error', () => {
  const proxyUrl = 'socks5://proxy-user:pr%40xy-pass@proxy.example.test:1080';
  const secrets = [API_KEY, 'pr%40xy-pass', 'pr@xy-pass', 'cdp-token-123'];
  const leak = `key ${API_KEY} via ${proxyUrl}, password pr@xy-pass (pr%40xy-pass), at wss://n.example.test/x?token=cdp-token-123`;
  const answers = [
    ['a message', json(400, { error: leak, code: leak })],
    ['a long message', json(400, { error: `${'x'.repeat(295)} ${API_KEY} and more` })],
    ['a page', text(502, `<p>${leak}</p>`)],
    ['an unexpected shape', json(200, { sessionId: { leak }, cdpUrl: leak })],
    [
      'a wrong field',
      json(200, { sessionId: 's-1', status: 5, cdpUrl: ['wss://n/x?token=cdp-token-123'], note: leak }),
    ],
    ['a break', hangUp],
  ] as const;
  for (const [name, handler] of answers) {
    test(`echoed in ${name}`, async ({ service, connect }) => {
      service.handle(handler);
      const failure = await failureOf(connect().client.createSession({ proxyUrl }), ServiceError);
      const shown = everythingOf(failure);
      for (const secret of secrets) expect(shown).not.toContain(secret);
      expect(shown).not.toContain(API_KEY.slice(0, 10));
      expect(failure.message).toContain('POST /v1/browser/session');
    });
  }

  test('inspecting a client shows no secret', async ({ connect }) => {
    const { inspect } = await import('node:util');
    const { client } = connect();
    expect(inspect(client, { depth: 10, showHidden: true })).not.toContain(API_KEY);
    expect(JSON.stringify(client)).not.toContain(API_KEY);
  });
});

import { PoolwrightError, ServiceError } from '../../../../src/errors.ts';
import { nextDelay, parseRetryAfter, RETRY_POLICY, retryCase } from '../../../../src/service/http/retry-policy.ts';
import { expect, failureOf, json, poolBody, test, text } from '../../../support/unit/http-service.ts';

test.describe('number of tries, and the waits between them', () => {
  const cases = [
    {
      name: '429',
      handler: json(429, { error: 'slow down' }),
      code: 'SERVICE_RATE_LIMITED',
      delays: [2000, 4000, 8000],
    },
    {
      name: '429 that is not JSON',
      handler: text(429, '<html>Too many</html>'),
      code: 'SERVICE_RATE_LIMITED',
      delays: [2000, 4000, 8000],
    },
    { name: '500', handler: json(500, { error: 'boom' }), code: 'SERVICE_FAILED', delays: [1000] },
    { name: '502 that is not JSON', handler: text(502, 'Bad Gateway'), code: 'SERVICE_UNAVAILABLE', delays: [2000] },
    {
      name: '503',
      handler: json(
        503,
        { error: 'No eligible node found', code: 'browser_capacity_unavailable' },
        { 'retry-after': '2' },
      ),
      code: 'SERVICE_UNAVAILABLE',
      delays: [2000, 4000, 8000, 16000],
    },
    { name: '504', handler: json(504, { error: 'not ready' }), code: 'SERVICE_START_TIMEOUT', delays: [1000] },
    { name: 'an unlisted 5xx', handler: text(520, ''), code: 'SERVICE_FAILED', delays: [1000] },
  ];
  for (const { name, handler, code, delays: expected } of cases) {
    test(name, async ({ service, connect }) => {
      service.handle(handler);
      const { client, delays, retries } = connect();
      const failure = await failureOf(client.getPool('pool_e2e'), ServiceError);
      expect(failure).toMatchObject({
        code,
        attempts: expected.length + 1,
        retryable: true,
        request: 'GET /v1/browser/pools/pool_e2e',
      });
      expect(failure.message).toContain(`(${expected.length + 1} requests were sent)`);
      expect(delays).toEqual(expected);
      expect(service.seen).toHaveLength(expected.length + 1);
      expect(retries.map(({ attempt, delayMs }) => [attempt, delayMs])).toEqual(
        expected.map((delay, index) => [index + 1, delay]),
      );
      expect(retries[0]).toMatchObject({ code, status: failure.status, request: failure.request });
    });
  }

  test('returns a success after failures', async ({ service, connect }) => {
    const busy = json(503, { error: 'busy' });
    service.script(busy, busy, text(429, ''), json(500, {}), json(200, poolBody('pool_e2e')));
    const { client, delays } = connect();
    expect((await client.getPool('pool_e2e')).id).toBe('pool_e2e');
    // Each kind of failure has its own tries.
    expect(delays).toEqual([2000, 4000, 2000, 1000]);
  });

  test('repeats a call only once after failures that may have had an effect', async ({ service, connect }) => {
    service.script(json(500, {}), text(502, ''), json(200, poolBody('pool_e2e')));
    expect(await failureOf(connect().client.getPool('pool_e2e'), ServiceError)).toMatchObject({
      status: 502,
      attempts: 2,
    });
  });

  test("retry: 'none' sends once, for a call and for a client", async ({ service, connect }) => {
    service.handle(json(503, { error: 'busy' }));
    await failureOf(connect().client.listPools({ retry: 'none' }), ServiceError);
    expect(service.seen).toHaveLength(1);
    await failureOf(connect({ retry: 'none' }).client.listPools(), ServiceError);
    expect(service.seen).toHaveLength(2);
    await failureOf(connect({ retry: 'none' }).client.listPools({ retry: 'policy' }), ServiceError);
    expect(service.seen).toHaveLength(2 + RETRY_POLICY.unavailable.attempts);
  });
});

test.describe('Retry-After', () => {
  const date = 'Tue, 01 Jan 2030 00:00:00 GMT';
  const cases = [
    { name: 'seconds', headers: { 'retry-after': '7' }, first: 7000, retryAfterMs: 7000 },
    {
      name: 'a date',
      headers: { date, 'retry-after': 'Tue, 01 Jan 2030 00:00:09 GMT' },
      first: 9000,
      retryAfterMs: 9000,
    },
    {
      name: 'a date in the past',
      headers: { date, 'retry-after': 'Mon, 31 Dec 2029 00:00:00 GMT' },
      first: 2000,
      retryAfterMs: 0,
    },
    {
      name: 'more than the longest wait of the table',
      headers: { 'retry-after': '240' },
      first: 240_000,
      retryAfterMs: 240_000,
    },
    { name: 'nonsense', headers: { 'retry-after': 'soon' }, first: 2000, retryAfterMs: undefined },
  ];
  for (const { name, headers, first, retryAfterMs } of cases) {
    test(name, async ({ service, connect }) => {
      service.script(json(503, { error: 'busy' }, headers as Record<string, string>), json(200, { pools: [] }));
      const { client, delays } = connect();
      await client.listPools();
      expect(delays).toEqual([first]);
      service.script(json(503, { error: 'busy' }, headers as Record<string, string>));
      expect((await failureOf(client.listPools({ retry: 'none' }), ServiceError)).retryAfterMs).toBe(retryAfterMs);
    });
  }

  const tomorrow = json(503, { error: 'busy' }, { 'retry-after': '86400' });

  test('of a day: a call without a signal neither waits nor repeats', async ({ service, connect }) => {
    service.handle(tomorrow);
    const { client, delays } = connect();
    expect(await failureOf(client.listPools(), ServiceError)).toMatchObject({ attempts: 1, retryAfterMs: 86_400_000 });
    expect(delays).toEqual([]);
    expect(service.seen).toHaveLength(1);
  });

  test('of a day: a call with a signal waits until it fires', async ({ service, connect }) => {
    service.handle(tomorrow);
    const deadline = new AbortController();
    const waits: number[] = [];
    const { client } = connect({
      onRetry: ({ delayMs }) => {
        waits.push(delayMs);
        setTimeout(() => deadline.abort(new Error('no more time')), 50);
      },
      sleep: (_ms, signal) => new Promise((_, reject) => signal.addEventListener('abort', reject)),
    });
    const failure = await failureOf(client.createSession({ note: 'n1' }, { signal: deadline.signal }), PoolwrightError);
    expect(failure.code).toBe('ABORTED');
    expect(waits).toEqual([86_400_000]);
    expect(service.seen).toHaveLength(1);
  });

  test('is parsed as seconds or as a date', () => {
    const now = Date.parse(date);
    expect(parseRetryAfter(' 3 ', now)).toBe(3000);
    expect(parseRetryAfter('0', now)).toBe(0);
    expect(parseRetryAfter('Tuesday, 01-Jan-30 00:00:05 GMT', now)).toBe(5000);
    for (const odd of [undefined, '', '-1', '1.5', '2 s', '2030-01-01', 'Tue, 99 Foo 2030 GMT']) {
      expect(parseRetryAfter(odd, now), String(odd)).toBeUndefined();
    }
  });
});

test.describe('the retry policy', () => {
  const failure = (status: number, code: ServiceError['code'] = 'SERVICE_FAILED', retryAfterMs?: number) => ({
    status,
    code,
    retryAfterMs,
  });

  test('jitter only lengthens a delay, by its share', () => {
    const busy = failure(503, 'SERVICE_UNAVAILABLE');
    expect(nextDelay(busy, 1, () => 0)).toBe(2000);
    expect(nextDelay(busy, 1, () => 0.5)).toBe(2500);
    expect(nextDelay(failure(503, 'SERVICE_UNAVAILABLE', 10_000), 1, () => 0.5)).toBe(12_500);
    expect(nextDelay(busy, RETRY_POLICY.unavailable.attempts, () => 0)).toBeNull();
  });

  test('refusals are never retried', () => {
    for (const status of [301, 400, 401, 402, 403, 404, 409, 413])
      expect(nextDelay(failure(status), 1), String(status)).toBeNull();
    expect(nextDelay(failure(403, 'SERVICE_LIMIT_REACHED'), 1)).toBeNull();
    expect(nextDelay(failure(409, 'SERVICE_POOL_EMPTY'), 1, () => 0)).toBe(1000);
    expect(nextDelay(failure(200, 'SERVICE_BAD_RESPONSE'), 1)).toBeNull();
  });

  test('a failure is ambiguous when the call may have had its effect', () => {
    const ambiguous = Object.entries(RETRY_POLICY).filter(([, rule]) => rule.ambiguous);
    expect(ambiguous.map(([name]) => name)).toEqual(['no-answer', 'bad-response', 'failed', 'edge-failed']);
    const connect = Object.assign(new Error('x'), { code: 'ECONNREFUSED', syscall: 'connect' });
    const reset = Object.assign(new Error('x'), { code: 'ECONNRESET', syscall: 'read' });
    expect(retryCase({ status: 0, code: 'SERVICE_UNREACHABLE', cause: new Error('y', { cause: connect }) })).toBe(
      'not-sent',
    );
    expect(retryCase({ status: 0, code: 'SERVICE_UNREACHABLE', cause: new AggregateError([connect], '') })).toBe(
      'not-sent',
    );
    expect(retryCase({ status: 0, code: 'SERVICE_UNREACHABLE', cause: reset })).toBe('no-answer');
    expect(retryCase({ status: 0, code: 'TIMEOUT', cause: undefined })).toBe('no-answer');
  });
});

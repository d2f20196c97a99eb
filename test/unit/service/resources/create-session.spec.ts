import { PoolwrightError, ServiceError } from '../../../../src/errors.ts';
import {
  API_KEY,
  cutShort,
  expect,
  failureOf,
  type Handler,
  hangUp,
  json,
  type Seen,
  sessionBody,
  silence,
  test,
  text,
} from '../../../support/unit/http-service.ts';

type Body = ReturnType<typeof sessionBody>;
const CREATE = 'POST /v1/browser/session';

/**
 * A service that really keeps sessions. `onCreate` answers the nth create in place of the service; sessions are made
 * before it runs if `makes` is set.
 */
function keeper(onCreate: (nth: number, request: Seen, make: (more?: Partial<Body>) => Body) => Handler | undefined) {
  const sessions = new Map<string, Body>();
  let creates = 0;
  const make = (request: Seen, more: Partial<Body> = {}) => {
    const note = (request.body as { note?: string }).note ?? null;
    const made = { ...sessionBody(`s-${sessions.size + 1}`), note, ...more } as Body;
    sessions.set(made.sessionId, made);
    return made;
  };
  const running = () => [...sessions.values()].filter(({ status }) => status === 'active' || status === 'starting');
  const handler: Handler = (request, response) => {
    const { sessionId = '', status } = request.query;
    const known = sessions.get(sessionId);
    const answer = (): Handler => {
      if (request.path === '/v1/browser/sessions') {
        return json(200, { sessions: [...sessions.values()].filter((each) => each.status === status), pageSize: 100 });
      }
      if (request.method === 'POST') {
        creates += 1;
        const own = onCreate(creates, request, (more) => make(request, more));
        return own ?? json(200, make(request));
      }
      if (!known) return json(404, { error: 'Session not found' });
      if (request.method === 'DELETE') {
        known.status = 'completed';
        return json(200, { success: true });
      }
      return json(200, known);
    };
    return answer()(request, response);
  };
  return { handler, sessions, running, creates: () => creates };
}

test('sends the body unchanged, with key and type, and returns the session', async ({ service, connect }) => {
  service.handle(json(200, { ...sessionBody('s-1'), newField: { from: 'the future' } }));
  const body = { type: 'hosted_stealth', country: 'DE', duration: 60, note: 'n' } as const;
  const session = await connect().client.createSession(body);
  expect(session).toMatchObject({ sessionId: 's-1', status: 'active', newField: { from: 'the future' } });
  expect(service.seen).toEqual([
    {
      method: 'POST',
      path: '/v1/browser/session',
      query: {},
      authorization: `Bearer ${API_KEY}`,
      contentType: 'application/json',
      body,
    },
  ]);
});

test.describe('a lost response, with a note', () => {
  const losses: Array<[string, Handler]> = [
    ['reset', hangUp],
    ['cut short', cutShort(200, '{"sessionId":')],
    ['500', json(500, { error: 'boom' })],
    ['502', text(502, 'Bad Gateway')],
    ['a success that is not JSON', text(200, 'ok')],
  ];
  for (const [name, loss] of losses) {
    test(`${name}: returns the created session`, async ({ service, connect }) => {
      const kept = keeper((_nth, _request, make) => {
        make();
        return loss;
      });
      service.handle(kept.handler);
      const session = await connect().client.createSession({ note: 'run-1 slot-0' });
      expect(session).toMatchObject({ sessionId: 's-1', note: 'run-1 slot-0' });
      expect(session.cdpUrl).toContain('wss://');
      expect(kept.creates()).toBe(1);
      expect(kept.sessions.size).toBe(1);
    });
  }

  test('returns the created session after a timeout', async ({ service, connect }) => {
    const kept = keeper((_nth, _request, make) => {
      make();
      return silence;
    });
    service.handle(kept.handler);
    const { client, delays } = connect();
    expect((await client.createSession({ note: 'n-1' }, { timeout: 60 })).sessionId).toBe('s-1');
    expect(kept.creates()).toBe(1);
    expect(delays).toEqual([1000]);
  });

  test('waits for a session that is starting', async ({ service, connect }) => {
    const kept = keeper((_nth, _request, make) => {
      make({ status: 'starting', cdpUrl: undefined });
      return hangUp;
    });
    let polls = 0;
    service.handle((request, response) => {
      const session = kept.sessions.get(request.query.sessionId ?? '');
      if (session && ++polls === 3) Object.assign(session, { status: 'active', cdpUrl: 'wss://node/late' });
      return kept.handler(request, response);
    });
    const { client, delays } = connect();
    expect(await client.createSession({ note: 'n-1' })).toMatchObject({
      sessionId: 's-1',
      status: 'active',
      cdpUrl: 'wss://node/late',
    });
    expect(delays).toEqual([1000, 1000, 1000, 1000]);
    expect(kept.sessions.size).toBe(1);
  });

  test('stops a session that does not become active in time, and creates another one', async ({ service, connect }) => {
    const kept = keeper((nth, _request, make) => {
      if (nth > 1) return undefined;
      make({ status: 'starting', cdpUrl: undefined });
      return hangUp;
    });
    service.handle(kept.handler);
    expect((await connect().client.createSession({ note: 'n-1' })).sessionId).toBe('s-2');
    expect(service.calls.filter((call) => call === 'GET /v1/browser/session')).toHaveLength(190);
    expect(kept.running().map(({ sessionId }) => sessionId)).toEqual(['s-2']);
  });

  test('creates another session when the first one fails to start', async ({ service, connect }) => {
    const kept = keeper((nth, _request, make) => {
      if (nth > 1) return undefined;
      make({ status: 'starting' });
      return hangUp;
    });
    service.handle((request, response) => {
      const session = kept.sessions.get(request.query.sessionId ?? '');
      if (session?.status === 'starting') session.status = 'error';
      return kept.handler(request, response);
    });
    expect((await connect().client.createSession({ note: 'n-1' })).sessionId).toBe('s-2');
    expect(kept.running()).toHaveLength(1);
  });

  test('creates the session again, once, when it is not found', async ({ service, connect }) => {
    const kept = keeper((nth) => (nth === 1 ? hangUp : undefined));
    service.handle(kept.handler);
    const { client, delays, retries } = connect();
    expect((await client.createSession({ note: 'n-1' })).sessionId).toBe('s-1');
    expect(kept.creates()).toBe(2);
    expect(delays).toEqual([1000]);
    expect(retries).toEqual([expect.objectContaining({ request: CREATE, attempt: 1, code: 'SERVICE_UNREACHABLE' })]);

    const never = keeper(() => hangUp);
    service.handle(never.handler);
    const failure = await failureOf(client.createSession({ note: 'n-2' }), ServiceError);
    expect(failure).toMatchObject({ code: 'SERVICE_UNREACHABLE', attempts: 2 });
    expect(failure.message).toContain('No session with the note "n-2" is listed');
    expect(never.creates()).toBe(2);
  });

  test('stops a duplicate that appears after the second create', async ({ service, connect }) => {
    const kept = keeper((nth, _request, make) => {
      if (nth === 1) return hangUp;
      make(); // the first one, late
      return undefined;
    });
    service.handle(kept.handler);
    const session = await connect().client.createSession({ note: 'n-1' });
    expect(kept.sessions.size).toBe(2);
    expect(kept.running().map(({ sessionId }) => sessionId)).toEqual([session.sessionId]);
  });

  test('ignores sessions of others: with another note, or an older one with the same note', async ({
    service,
    connect,
  }) => {
    const kept = keeper((nth) => (nth === 1 ? hangUp : undefined));
    kept.sessions.set('other', { ...sessionBody('other'), note: 'n-10' } as never);
    kept.sessions.set('earlier', {
      ...sessionBody('earlier'),
      note: 'n-1',
      createdAt: new Date(Date.now() - 3_600_000).toISOString(),
    } as never);
    service.handle(kept.handler);
    expect((await connect().client.createSession({ note: 'n-1' })).sessionId).toBe('s-3');
    expect(kept.running().map(({ sessionId }) => sessionId)).toEqual(['other', 'earlier', 's-3']);
  });

  test('does not create again when the lookup fails, and reports the unknown outcome', async ({ service, connect }) => {
    service.handle((request, response) =>
      (request.method === 'POST' ? hangUp : json(401, { error: 'Unauthorized: Invalid token' }))(request, response),
    );
    const failure = await failureOf(connect().client.createSession({ note: 'n-1' }), ServiceError);
    expect(failure.code).toBe('SERVICE_UNREACHABLE');
    expect(failure.message).toContain(
      'A browser with the note "n-1" may be running all the same: look with listSessions',
    );
    expect(failure.message).toContain('Looking for it failed: GET /v1/browser/sessions responded with 401');
    expect(service.calls).toEqual([CREATE, 'GET /v1/browser/sessions']);
  });

  test("retry: 'none' neither looks up nor creates again", async ({ service, connect }) => {
    service.handle(hangUp);
    const failure = await failureOf(connect().client.createSession({ note: 'n-1' }, { retry: 'none' }), ServiceError);
    expect(failure.message).toContain('A browser with the note "n-1" may be running');
    expect(service.calls).toEqual([CREATE]);
  });

  test('an abort ends the wait for the session', async ({ service, connect }) => {
    const kept = keeper((_nth, _request, make) => {
      make({ status: 'starting' });
      return hangUp;
    });
    service.handle(kept.handler);
    const controller = new AbortController();
    const { client } = connect({
      sleep: async () => {
        if (service.calls.includes('GET /v1/browser/session')) controller.abort();
      },
    });
    const failure = await failureOf(
      client.createSession({ note: 'n-1' }, { signal: controller.signal }),
      PoolwrightError,
    );
    expect(failure.code).toBe('ABORTED');
    expect(kept.creates()).toBe(1);
  });
});

test('does not repeat a lost create without a note, and the error says how to check', async ({ service, connect }) => {
  for (const loss of [hangUp, json(500, { error: 'boom' }), text(502, 'Bad Gateway')]) {
    service.seen.length = 0;
    service.handle(loss);
    const failure = await failureOf(connect().client.createSession({ country: 'US' }), ServiceError);
    expect(failure.message).toContain(
      'A browser may be running all the same: look with listSessions or npx poolwright sessions',
    );
    expect(service.calls).toEqual([CREATE]);
  }
});

test('repeats a create without a lookup after 503, 429, 504 and a refused connection', async ({ service, connect }) => {
  service.script(
    json(503, { error: 'busy' }),
    text(429, ''),
    json(504, { error: 'late' }),
    json(200, sessionBody('s-1')),
  );
  const { client, delays } = connect();
  expect((await client.createSession()).sessionId).toBe('s-1');
  expect(delays).toEqual([2000, 2000, 1000]);
  service.handle(json(504, { error: 'late' }));
  expect(await failureOf(client.createSession(), ServiceError)).toMatchObject({
    code: 'SERVICE_START_TIMEOUT',
    attempts: 2,
  });
  expect(new Set(service.calls)).toEqual(new Set([CREATE]));
  await service.stop();
  const refused = await failureOf(connect().client.createSession(), ServiceError);
  expect(refused).toMatchObject({ code: 'SERVICE_UNREACHABLE', attempts: 2 });
  expect(refused.message).not.toContain('may be running');
});

test('survives one lost response after waiting for capacity', async ({ service, connect }) => {
  const busy = json(503, { error: 'busy' });
  const kept = keeper((nth) => [busy, busy, hangUp][nth - 1]);
  service.handle(kept.handler);
  expect((await connect().client.createSession({ note: 'n-1' })).sessionId).toBe('s-1');
  expect(kept.creates()).toBe(4);
  expect(kept.sessions.size).toBe(1);
});

test('throws a refusal at the limit at once', async ({ service, connect }) => {
  service.handle(json(403, { error: 'Session limit reached' }));
  const failure = await failureOf(connect().client.createSession({ note: 'n-1' }), ServiceError);
  expect(failure).toMatchObject({ code: 'SERVICE_LIMIT_REACHED', retryable: false });
  expect(service.calls).toEqual([CREATE]);
});

test('stops a session with an invalid field, and names the field', async ({ service, connect }) => {
  service.handle((request, response) =>
    json(200, request.method === 'DELETE' ? { success: true } : { ...sessionBody('s-9'), status: 7 })(
      request,
      response,
    ),
  );
  const failure = await failureOf(connect().client.createSession(), ServiceError);
  expect(failure).toMatchObject({ code: 'SERVICE_BAD_RESPONSE', status: 200 });
  expect(failure.message).toContain('`status`: must be a string, got 7');
  expect(failure.message).toContain('Session s-9 was stopped.');
  expect(service.seen[1]).toMatchObject({ method: 'DELETE', query: { sessionId: 's-9' } });
});

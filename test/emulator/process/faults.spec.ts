import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chromium } from '@playwright/test';
import { WebSocket } from 'ws';
import type { FaultRule } from '../../../src/emulator/fault-rule.ts';
import type { Api } from '../../support/emulator/api.ts';
import { expect, test } from '../../support/emulator/fixtures.ts';
import { isRunning } from '../../support/processes.ts';
import { requires } from '../../support/requires.ts';

const POOLS = '/v1/browser/pools';
const CREATE = { method: 'POST', path: '/v1/browser/session' } as const;

const listed = async (api: Api) => (await api.call('GET', '/__emulator/faults')).body.faults;
const inject = (api: Api, ...faults: FaultRule[]) => api.call('POST', '/__emulator/faults', { faults });
/** The cause of a request without a response. */
const failure = (work: Promise<unknown>) =>
  work.then(
    () => 'answered',
    (error) => error.cause?.code ?? error.name,
  );

test.describe('the list of faults', () => {
  test.use({ onStubs: true });

  test('matches by method, path, nth and count, and reports its counts', async ({ start }) => {
    const { api } = await start({
      faults: [
        { match: { method: 'POST', path: `${POOLS}/*/acquire`, nth: 2 }, effect: { status: 429 } },
        { id: 'twice', match: { path: POOLS }, effect: { status: 500 }, count: 2 },
        { match: { path: POOLS, nth: 4 }, effect: { status: 502 }, count: 2 },
      ],
    });
    const statuses = async (path: string, times: number) => {
      const seen: number[] = [];
      for (let index = 0; index < times; index++) seen.push((await api.get(path)).status);
      return seen;
    };
    expect(await statuses('/pools', 6)).toEqual([500, 500, 200, 502, 502, 200]);
    expect(await statuses('/sessions', 1)).toEqual([200]);
    const acquire = async () => (await api.post('/pools/pool_x/acquire', {})).status;
    expect([await acquire(), await acquire(), await acquire()]).toEqual([404, 429, 404]);
    expect(await listed(api)).toMatchObject([
      { id: 'fault-1', effect: { status: 429 }, count: 1, matched: 3, fired: 1 },
      { id: 'twice', match: { path: POOLS }, count: 2, matched: 6, fired: 2 },
      { id: 'fault-2', count: 2, matched: 6, fired: 2 },
    ]);
  });

  test('is added to, replaced by id and cleared', async ({ start }) => {
    const { api, baseURL } = await start();
    expect(await listed(api)).toEqual([]);
    await inject(api, { id: 'a', effect: { status: 500 } }, { effect: { status: 503 } });
    expect((await api.get('/pools')).status).toBe(500);
    await inject(api, { id: 'a', match: { method: 'DELETE' }, effect: { status: 500 } });
    expect((await listed(api)).map((fault: { id: string; matched: number }) => [fault.id, fault.matched])).toEqual([
      ['a', 0],
      ['fault-1', 1],
    ]);
    expect((await api.get('/pools')).status).toBe(503);
    expect((await api.call('DELETE', '/__emulator/faults')).body).toEqual({ faults: [] });
    expect((await api.get('/pools')).status).toBe(200);
    expect((await fetch(`${baseURL}/__emulator/faults`)).status).toBe(401);
    // It is not part of the service's API.
    expect(await (await fetch(`${baseURL}/doc`)).text()).not.toContain('__emulator');
  });

  test('refuses an action with the name of a property of every object', async ({ start }) => {
    const { baseURL, apiKey } = await start();
    for (const action of ['constructor', 'toString', '__proto__', 'explode']) {
      const response = await fetch(`${baseURL}/__emulator/sessions/none/${action}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}` },
      });
      expect([response.status, await response.json()]).toEqual([
        400,
        { error: expect.stringContaining(`${action}: unknown action; known are crash, stall, resume,`) },
      ]);
    }
  });

  test('stays responsive with sixty stars in the path of a rule', async ({ start }) => {
    const { api } = await start();
    expect((await inject(api, { match: { path: `/v1/${'*s'.repeat(60)}!` }, effect: { status: 500 } })).status).toBe(
      200,
    );
    expect((await api.get(`/pools/${'s'.repeat(2_000)}`)).status).toBe(400);
  });

  test('fires at random by the seed', async ({ start }) => {
    const faults: FaultRule[] = [{ match: { probability: 0.5 }, effect: { status: 500 } }];
    const draw = async (seed: number) => {
      const { api } = await start({ faults, seed });
      const seen: number[] = [];
      for (let index = 0; index < 60; index++) seen.push((await api.get('/pools')).status);
      return seen;
    };
    const first = await draw(7);
    expect(await draw(7)).toEqual(first);
    expect(await draw(8)).not.toEqual(first);
    const failed = first.filter((status) => status === 500).length;
    expect(failed).toBeGreaterThan(15);
    expect(failed).toBeLessThan(45);
  });

  for (const [rule, message] of [
    [{ effect: { status: 500 }, often: 1 }, 'faults.0.often: unknown field'],
    [{ match: { verb: 'GET' }, effect: { reset: true } }, 'faults.0.match.verb: unknown field'],
    [{ effect: {} }, 'faults.0.effect: is empty: give one of delayMs, status, reset,'],
    [{ effect: { status: 500, hang: true } }, 'faults.0.effect.hang: does not go with status'],
    [{ effect: { status: 99 } }, 'faults.0.effect.status: '],
    [{ effect: { body: 'x', reset: true } }, 'faults.0.effect.body: needs status'],
    [{ effect: { status: 500, headers: { 'a b': 'c' } } }, 'faults.0.effect.headers: are no HTTP headers'],
    [{ effect: { delayMs: 5, afterMs: 5 } }, 'faults.0.effect.afterMs: needs one of crashBrowser'],
    [{ match: { nth: 0 }, effect: { hang: true } }, 'faults.0.match.nth: '],
    [{ match: { path: 'v1' }, effect: { hang: true } }, 'faults.0.match.path: must begin with /'],
    [{ match: { probability: 2 }, effect: { hang: true } }, 'faults.0.match.probability: '],
    [{ effect: { hang: false } }, 'faults.0.effect.hang: must be true where it is given'],
  ] as const) {
    test(`refuses ${JSON.stringify(rule)}`, async ({ start }) => {
      const { api } = await start();
      const { status, body } = await inject(api, rule as unknown as FaultRule);
      expect([status, body.error]).toEqual([400, expect.stringContaining(message)]);
      expect(await listed(api)).toEqual([]);
      const refused = start({ faults: [rule as unknown as FaultRule] });
      // Errors of options have the wording of all options.
      const said = message
        .replace(/^faults\.0([.\w]*): /, '`faults[0]$1`: ')
        .replace('unknown field', 'unknown key')
        .replace('must be true where it is given', 'must be true');
      await expect(refused).rejects.toMatchObject({ code: 'OPTIONS_INVALID', message: expect.stringContaining(said) });
    });
  }
});

test.describe('a fault of the wire', () => {
  test.use({ onStubs: true });

  test('responds with a status, headers and any body', async ({ start }) => {
    const { api, baseURL } = await start({
      faults: [
        {
          match: CREATE,
          effect: { status: 503, headers: { 'Retry-After': '2' }, body: { error: 'none', code: 'x' } },
          count: 1,
        },
        { match: CREATE, effect: { status: 502, body: '<html>Bad Gateway</html>' }, count: 1 },
        { match: CREATE, effect: { status: 204 } },
      ],
    });
    const create = () => fetch(`${baseURL}/v1/browser/session`, { method: 'POST' });
    const busy = await create();
    expect([busy.status, busy.headers.get('retry-after'), await busy.json()]).toEqual([
      503,
      '2',
      { error: 'none', code: 'x' },
    ]);
    const edge = await create();
    expect([edge.status, edge.headers.get('content-type'), await edge.text()]).toEqual([
      502,
      expect.stringContaining('text/html'),
      '<html>Bad Gateway</html>',
    ]);
    const empty = await create();
    expect([empty.status, await empty.text()]).toEqual([204, '']);
    expect((await api.get('/sessions')).body.total).toBe(0);
  });

  test('delays the response, but handles the request even if the client leaves', async ({ start }) => {
    const { api } = await start({ faults: [{ match: { method: 'POST' }, effect: { delayMs: 300 } }] });
    const began = Date.now();
    const slow = api.post('/pools', { name: 'a', size: 1 }, AbortSignal.timeout(100));
    expect(await failure(slow)).toBe('TimeoutError');
    await expect.poll(async () => (await api.get('/pools')).body.pools.length).toBe(1);
    expect(Date.now() - began).toBeGreaterThanOrEqual(299);
  });

  test('delays no longer than the emulator runs', async ({ start }) => {
    const lines: string[] = [];
    const emulator = await start({
      faults: [{ match: CREATE, effect: { delayMs: 60_000 } }],
      onLog: (line) => lines.push(line),
    });
    const pending = failure(emulator.api.create());
    await expect.poll(async () => (await listed(emulator.api))[0].fired).toBe(1);
    const began = Date.now();
    await emulator.stop();
    expect(await pending).not.toBe('answered');
    expect(Date.now() - began).toBeLessThan(30_000);
    expect(lines.join()).not.toContain('did not start');
  });

  test('resets the connection before the request is handled', async ({ start }) => {
    const { api } = await start({ faults: [{ match: CREATE, effect: { reset: true }, count: 1 }] });
    expect(await failure(api.create())).toBe('ECONNRESET');
    expect((await api.get('/sessions')).body.total).toBe(0);
    expect((await api.create()).status).toBe(200);
  });

  test('loses the response of a successful create', async ({ start }) => {
    const { api } = await start({ faults: [{ match: CREATE, effect: { loseAnswer: true }, count: 1 }] });
    expect(await failure(api.create({ note: 'lost' }))).toBe('ECONNRESET');
    const [session, ...others] = await api.active();
    expect(others).toEqual([]);
    expect(session).toMatchObject({ status: 'active', note: 'lost', cdpUrl: expect.stringContaining('ws://') });
  });

  test('hangs until the client gives up, without delaying the end', async ({ start }) => {
    const emulator = await start({ faults: [{ match: CREATE, effect: { hang: true } }] });
    const { api } = emulator;
    const pending = failure(api.create());
    expect(await failure(api.post('/session', {}, AbortSignal.timeout(200)))).toBe('TimeoutError');
    await expect.poll(async () => (await listed(api))[0].fired).toBe(2);
    expect((await api.get('/sessions')).body.total).toBe(0);
    const began = Date.now();
    await emulator.stop();
    expect(Date.now() - began).toBeLessThan(10_000);
    expect(await pending).not.toBe('answered');
  });
});

test.describe('a fault of a browser', () => {
  test('crashes it after the create, which frees its slot', async ({ start }) => {
    const emulator = await start({
      concurrentBrowsers: 1,
      faults: [{ match: CREATE, effect: { crashBrowser: true, afterMs: 500 }, count: 1 }],
    });
    const { api } = emulator;
    const { sessionId, status } = (await api.create()).body;
    const pids = emulator.browserPids();
    expect([status, pids.length]).toEqual(['active', 1]);
    await expect.poll(async () => (await api.session(sessionId)).body.status).toBe('error');
    expect(pids.filter(isRunning)).toEqual([]);
    expect((await api.create()).status).toBe(200);
    expect(await listed(api)).toMatchObject([{ matched: 2, fired: 1 }]);
  });

  test('applies to the browser of a lease, too', async ({ start }) => {
    const emulator = await start({
      faults: [{ match: { path: `${POOLS}/*/acquire` }, effect: { endSession: true }, count: 1 }],
    });
    const { api } = emulator;
    const { id } = (await api.post('/pools', { name: 'p', size: 1 })).body;
    // No browser is ready yet, so the fault does not count as fired.
    expect((await api.post(`/pools/${id}/acquire`, {})).status).toBe(409);
    expect(await listed(api)).toMatchObject([{ matched: 1, fired: 0 }]);
    const { body } = await api.post(`/pools/${id}/acquire`, { waitMs: 30_000 });
    await expect.poll(async () => (await api.session(body.sessionId)).body.status).toBe('completed');
    expect(await listed(api)).toMatchObject([{ matched: 2, fired: 1 }]);
  });

  test('freezes and resumes it; a frozen browser is killed at the end', async ({ start, connect }) => {
    requires('Linux');
    const emulator = await start();
    const { api } = emulator;
    const { sessionId, cdpUrl } = (await api.create()).body;
    const [pid] = emulator.browserPids() as [number];
    const act = (action: string) => api.call('POST', `/__emulator/sessions/${sessionId}/${action}`);
    const page = await (await connect(cdpUrl)).newPage();
    expect(await act('stall')).toEqual({ status: 200, body: { success: true } });
    await expect.poll(() => readFileSync(`/proc/${pid}/stat`, 'utf8')).toMatch(/\) T /);
    const answer = page.evaluate('6 * 7');
    expect(await Promise.race([answer, api.session(sessionId).then(({ body }) => body.status)])).toBe('active');
    await act('resume');
    expect(await answer).toBe(42);
    await act('stall');
    await api.stop(sessionId);
    expect(isRunning(pid)).toBe(false);
    expect(await act('stall')).toEqual({ status: 409, body: { error: expect.stringContaining('it is completed') } });
  });

  test('cuts its connections; clients can reconnect', async ({ start, connect }) => {
    const { api } = await start();
    const [one, two] = [(await api.create()).body, (await api.create()).body];
    const [browser, other] = [await connect(one.cdpUrl), await connect(two.cdpUrl)];
    const cut = new Promise((resolve) => browser.once('disconnected', resolve));
    await api.call('POST', `/__emulator/sessions/${one.sessionId}/cut`);
    await cut;
    expect(other.isConnected()).toBe(true);
    expect((await api.session(one.sessionId)).body.status).toBe('active');
    expect(await (await (await connect(one.cdpUrl)).newPage()).evaluate('6 * 7')).toBe(42);
  });

  test('can be applied at once, by session ID', async ({ start }) => {
    const { api, baseURL } = await start({ browser: 'stub', workspaces: [{ apiKey: 'a' }, { apiKey: 'b' }] });
    const { sessionId } = (await api.create()).body;
    const act = (action: string, by = api) => by.call('POST', `/__emulator/sessions/${sessionId}/${action}`);
    expect(await act('explode')).toEqual({
      status: 400,
      body: {
        error: 'explode: unknown action; known are crash, stall, resume, cut, end',
      },
    });
    const { Api } = await import('../../support/emulator/api.ts');
    expect((await act('crash', new Api(baseURL, 'b'))).status).toBe(404);
    expect((await act('crash')).status).toBe(200);
    await expect.poll(async () => (await api.session(sessionId)).body.status).toBe('error');
  });
});

test.describe('a fault of the handshake', () => {
  test('refuses, resets, blocks or delays a CDP connection', async ({ start, connect }) => {
    const { api } = await start({ browser: 'stub' });
    const { cdpUrl } = (await api.create()).body;
    const path = '/cdp/*';
    const attempt = (timeout = 5_000) => chromium.connectOverCDP(cdpUrl, { timeout });
    await inject(
      api,
      { match: { path }, effect: { status: 503, body: 'busy' }, count: 1 },
      { match: { path }, effect: { reset: true }, count: 1 },
      { match: { path }, effect: { hang: true }, count: 1 },
      { match: { path }, effect: { delayMs: 300 }, count: 1 },
    );
    await expect(attempt()).rejects.toThrow(/503/);
    await expect(attempt()).rejects.toThrow(/ECONNRESET|hang up|closed/);
    await expect(attempt(300)).rejects.toThrow(/Timeout 300ms/);
    const began = Date.now();
    await connect(cdpUrl);
    expect(Date.now() - began).toBeGreaterThanOrEqual(299);
    expect((await listed(api)).map(({ fired }: { fired: number }) => fired)).toEqual([1, 1, 1, 1]);
  });

  test('cuts a connection after a delay', async ({ start, connect }) => {
    const { api } = await start({
      browser: 'stub',
      faults: [{ match: { path: '/cdp/*' }, effect: { cutLink: true, afterMs: 400 }, count: 1 }],
    });
    const { cdpUrl } = (await api.create()).body;
    const socket = new WebSocket(cdpUrl);
    const closed = once(socket, 'close');
    await once(socket, 'open');
    expect((await closed)[0]).toBe(1006); // no close frame came
    expect((await connect(cdpUrl)).isConnected()).toBe(true);
  });
});

import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { type Answer, Api } from '../../support/emulator/api.ts';
import { expect, test } from '../../support/emulator/fixtures.ts';
import { startEmulatorProcess } from '../../support/emulator-process.ts';
import { slowIf } from '../../support/property-runs.ts';
import { requiresFound } from '../../support/requires.ts';

/**
 * Many requests at once, over real sockets, to an emulator in a separate process. The duration is printed, not checked.
 */

const REQUESTS = 1_000;
const SESSIONS = 200;

interface Timed extends Answer {
  ms: number;
}

async function timed(call: () => Promise<Answer>): Promise<Timed> {
  const began = performance.now();
  return { ...(await call()), ms: performance.now() - began };
}

/** Prints the duration in the report and in the terminal. */
function report(what: string, answers: Timed[]): void {
  const sorted = answers.map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (share: number) => `${Math.round(sorted[Math.ceil(share * sorted.length) - 1] ?? 0)} ms`;
  const description = `${sorted.length} at once: p50 ${at(0.5)}, p99 ${at(0.99)}, slowest ${at(1)}`;
  test.info().annotations.push({ type: what, description });
  console.log(`${what}: ${description}`);
}

function byStatus(answers: Answer[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

test(`${REQUESTS} simultaneous requests all get the right response`, slowIf(true), async () => {
  const emulator = await startEmulatorProcess({ browser: 'stub', concurrentBrowsers: 1 });
  const api = new Api(emulator.baseURL, emulator.apiKey);
  const stranger = new Api(emulator.baseURL, 'somebody');
  const { sessionId } = (await api.create({ note: 'first' })).body;
  const kinds: [() => Promise<Answer>, Answer][] = [
    [() => api.session(sessionId), { status: 200, body: expect.objectContaining({ sessionId, status: 'active' }) }],
    [() => api.get('/sessions'), { status: 200, body: expect.objectContaining({ total: 1 }) }],
    [
      () => api.patch(`/session?sessionId=${sessionId}`, { note: 'changed' }),
      { status: 200, body: expect.objectContaining({ sessionId, note: 'changed' }) },
    ],
    [() => api.get('/pools'), { status: 200, body: { pools: [] } }],
    [() => api.call('GET', '/doc'), { status: 200, body: expect.objectContaining({ openapi: expect.any(String) }) }],
    [() => api.create(), { status: 403, body: { error: 'Session limit reached' } }],
    [() => api.create({ duration: 1 }), { status: 400, body: { error: expect.stringMatching(/^duration: /) } }],
    [() => api.session('nobody'), { status: 404, body: { error: 'Session not found' } }],
    [() => api.stop('nobody'), { status: 404, body: { error: 'Session not found' } }],
    [() => stranger.get('/sessions'), { status: 401, body: { error: 'Unauthorized: Invalid token' } }],
  ];
  const answers = await Promise.all(
    Array.from({ length: REQUESTS }, async (_, index) => {
      const [call, expected] = kinds[index % kinds.length] as (typeof kinds)[number];
      return { ...(await timed(call)), expected };
    }),
  );
  report('requests', answers);
  expect(answers).toHaveLength(REQUESTS);
  for (const { status, body, expected } of answers) expect({ status, body }).toEqual(expected);
  expect((await api.stop(sessionId)).status).toBe(200);
  expect(await api.active()).toEqual([]);
  await emulator.stop();
});

test(`${REQUESTS} connections are made while the emulator is busy`, async () => {
  const limit = Number(await readFile('/proc/sys/net/core/somaxconn', 'utf8').catch(() => 0));
  requiresFound('a longer queue of connections', limit >= REQUESTS);
  const emulator = await startEmulatorProcess({ browser: 'stub' });
  const port = Number(new URL(emulator.baseURL).port);
  process.kill(emulator.pid, 'SIGSTOP');
  let connected = 0;
  const sockets = Array.from({ length: REQUESTS }, () => connect(port, '127.0.0.1', () => connected++));
  try {
    await expect.poll(() => connected).toBe(REQUESTS);
  } finally {
    process.kill(emulator.pid, 'SIGCONT');
    for (const socket of sockets) socket.destroy();
    await emulator.stop();
  }
});

test(`${SESSIONS} simultaneous sessions start up to the limit and stop together`, async () => {
  const emulator = await startEmulatorProcess({ browser: 'stub', concurrentBrowsers: SESSIONS });
  const api = new Api(emulator.baseURL, emulator.apiKey);
  const tooMany = 20;
  const creates = Array.from({ length: SESSIONS + tooMany }, (_, index) =>
    timed(() => api.create({ note: `${index}` })),
  );
  const answers = await Promise.all(creates);
  report('creates', answers);
  expect(byStatus(answers)).toEqual({ 200: SESSIONS, 403: tooMany });

  const created = answers.filter(({ status }) => status === 200).map(({ body }) => body);
  for (const field of ['sessionId', 'cdpUrl', 'note']) {
    expect(new Set(created.map((body) => body[field])).size).toBe(SESSIONS);
  }
  const read = await Promise.all(created.map(({ sessionId }) => timed(() => api.session(sessionId))));
  report('reads', read);
  expect(read.map(({ body }) => [body.sessionId, body.note])).toEqual(
    created.map((body) => [body.sessionId, body.note]),
  );

  const stops = await Promise.all(created.map(({ sessionId }) => timed(() => api.stop(sessionId))));
  report('stops', stops);
  expect(byStatus(stops)).toEqual({ 200: SESSIONS });
  expect(await api.active()).toEqual([]);
  expect((await api.get('/sessions?status=completed')).body.total).toBe(SESSIONS);
  // The slots are free again.
  const again = (await api.create()).body;
  expect(again.status).toBe('active');
  await api.stop(again.sessionId);
  await emulator.stop();
});

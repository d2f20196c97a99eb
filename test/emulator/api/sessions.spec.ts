import { expect, test } from '../../support/emulator/fixtures.ts';
import { ManualClock } from '../../support/emulator/manual-clock.ts';
import { isRunning } from '../../support/processes.ts';

test.describe('a session', () => {
  test('is created CDP-ready, serves a page, and is stopped for good', async ({ start, connect, site }) => {
    const { api } = await start({ allowLoopback: true, servedBy: 'node-7' });
    const { status, body: session } = await api.create({ note: 'mine', nodeId: 'node-7' });
    expect(status).toBe(200);
    expect(session).toEqual({
      sessionId: expect.any(String),
      status: 'active',
      servedBy: 'node-7',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      stoppedAt: null,
      cdpUrl: expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+\/cdp\/[\w-]{40,}$/),
      note: 'mine',
    });
    const browser = await connect(session.cdpUrl);
    const page = await browser.newPage();
    await page.goto(site.url);
    await expect(page.locator('p')).toHaveText('hello');
    expect((await api.session(session.sessionId)).body).toEqual({ ...session, bandwidthBytes: null });

    const closed = new Promise((resolve) => browser.once('disconnected', resolve));
    expect(await api.stop(session.sessionId)).toEqual({ status: 200, body: { success: true } });
    await closed;
    const { body: ended } = await api.session(session.sessionId);
    expect(ended).toMatchObject({ status: 'completed', cdpUrl: null, bandwidthBytes: expect.any(Number) });
    expect(Date.parse(ended.stoppedAt)).toBeGreaterThanOrEqual(Date.parse(session.createdAt));
    // Stopping again changes nothing.
    expect(await api.stop(session.sessionId)).toEqual({ status: 200, body: { success: true } });
    expect((await api.session(session.sessionId)).body).toEqual(ended);
  });

  test('is not found when the ID is wrong or missing', async ({ start }) => {
    const { api } = await start({ browser: 'stub' });
    const notFound = { status: 404, body: { error: 'Session not found' } };
    expect(await api.session('nope')).toEqual(notFound);
    expect(await api.stop('nope')).toEqual(notFound);
    expect(await api.patch('/session?sessionId=nope', {})).toEqual(notFound);
    expect(await api.get('/session')).toEqual({ status: 400, body: { error: 'sessionId: is required' } });
    expect((await api.delete('/session')).status).toBe(400);
  });

  test('can be updated while it runs', async ({ start }) => {
    const { api } = await start({ browser: 'stub' });
    const { sessionId } = (await api.create({ note: 'a' })).body;
    const path = `/session?sessionId=${sessionId}`;
    expect((await api.patch(path, { note: 'b', whatever: 1 })).body.note).toBe('b');
    expect((await api.patch(path, { whatever: 1 })).body.note).toBe('b');
    expect((await api.patch(path, { note: 'n'.repeat(257) })).status).toBe(400);
    await api.stop(sessionId);
    const refused = { status: 400, body: { error: 'Cannot update a terminal session' } };
    expect(await api.patch(path, { note: 'c' })).toEqual(refused);
  });

  test('ends at its duration', async ({ start, connect }) => {
    const clock = new ManualClock();
    const emulator = await start({}, clock);
    const { sessionId, cdpUrl } = (await emulator.api.create({ duration: 60 })).body;
    const browser = await connect(cdpUrl);
    const closed = new Promise((resolve) => browser.once('disconnected', resolve));
    clock.advance(59_999);
    expect((await emulator.api.session(sessionId)).body.status).toBe('active');
    clock.advance(1);
    await closed;
    await expect.poll(() => emulator.browserPids()).toEqual([]);
    const { body } = await emulator.api.session(sessionId);
    expect(body).toMatchObject({ status: 'completed', stoppedAt: '2030-01-01T00:01:00.000Z' });
  });

  test('has the status error when Chromium crashes', async ({ start, connect }) => {
    const emulator = await start();
    const { sessionId, cdpUrl } = (await emulator.api.create()).body;
    const browser = await connect(cdpUrl);
    const closed = new Promise((resolve) => browser.once('disconnected', resolve));
    process.kill(emulator.browserPids()[0] as number, 'SIGKILL');
    await closed;
    await expect.poll(async () => (await emulator.api.session(sessionId)).body.status).toBe('error');
    const { body } = await emulator.api.session(sessionId);
    expect(body).toMatchObject({ cdpUrl: null, stoppedAt: expect.any(String), bandwidthBytes: expect.any(Number) });
    expect((await emulator.api.stop(sessionId)).body).toEqual({ success: true });
    expect((await emulator.api.session(sessionId)).body.status).toBe('error');
  });

  test('can be stopped while it starts', async ({ start, slowChromium }) => {
    const emulator = await start({ chromium: slowChromium, concurrentBrowsers: 1 });
    const { api } = emulator;
    const creating = api.create();
    await expect.poll(async () => (await api.get('/sessions?status=starting')).body.sessions.length).toBe(1);
    const [{ sessionId }] = (await api.get('/sessions')).body.sessions;
    expect((await api.session(sessionId)).body).toMatchObject({ status: 'starting', cdpUrl: null, stoppedAt: null });
    await api.stop(sessionId);
    expect(emulator.browserPids()).toEqual([]);
    expect((await creating).body).toMatchObject({ sessionId, status: 'completed', cdpUrl: null });
    expect((await api.create()).status).toBe(200);
  });

  test('is stopped in time when Chromium hangs', async ({ start }) => {
    const emulator = await start();
    const { sessionId } = (await emulator.api.create()).body;
    const [pid] = emulator.browserPids();
    process.kill(pid as number, 'SIGSTOP');
    const began = Date.now();
    await emulator.api.stop(sessionId);
    expect(Date.now() - began).toBeLessThan(10_000);
    expect(isRunning(pid as number)).toBe(false);
  });

  test('continues when its creator disconnects', async ({ start, slowChromium }) => {
    const { api } = await start({ chromium: slowChromium });
    const hangUp = new AbortController();
    const lost = api.post('/session', {}, hangUp.signal);
    await expect.poll(async () => (await api.get('/sessions?status=starting')).body.sessions.length).toBe(1);
    hangUp.abort();
    await expect(lost).rejects.toThrow();
    await expect.poll(async () => (await api.active()).length).toBe(1);
  });
});

test.describe('the concurrency limit', () => {
  const refused = { status: 403, body: { error: 'Session limit reached' } };

  test('counts sessions that start', async ({ start }) => {
    const { api } = await start({ concurrentBrowsers: 2 });
    const answers = await Promise.all([1, 2, 3, 4].map(() => api.create()));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 403, 403]);
    expect(answers.find(({ status }) => status === 403)).toEqual(refused);
  });

  test('has a free slot as soon as a stop returns', async ({ start }) => {
    const { api } = await start({ browser: 'stub', concurrentBrowsers: 1 });
    const { sessionId } = (await api.create()).body;
    expect(await api.create()).toEqual(refused);
    await api.stop(sessionId);
    expect((await api.create()).status).toBe(200);
  });
});

test.describe('a start that fails', () => {
  test('responds with 504 after the deadline and leaves nothing', async ({ start, fakeChromium }) => {
    const chromium = await fakeChromium('exec sleep 600');
    const emulator = await start({ chromium, startupDeadline: 300, concurrentBrowsers: 1 });
    const { status, body } = await emulator.api.create();
    expect([status, body.error]).toEqual([504, expect.stringContaining('startup deadline')]);
    expect(emulator.browserPids()).toEqual([]);
    // Its slot is free: the next one fails for the same reason, not because of the limit.
    expect((await emulator.api.create()).status).toBe(504);
    expect((await emulator.api.get('/sessions?status=error')).body.total).toBe(2);
  });

  test('responds with 500 when Chromium ends, and logs why', async ({ start, fakeChromium }) => {
    const lines: string[] = [];
    const chromium = await fakeChromium('echo "cannot open display" >&2; exit 3');
    const { api } = await start({ chromium, onLog: (line) => lines.push(line) });
    expect(await api.create()).toEqual({ status: 500, body: { error: 'The browser failed to start' } });
    expect(lines.join('\n')).toContain('Chromium ended with 3: cannot open display');
  });
});

test('lists sessions newest first, by status, in pages', async ({ start }) => {
  const { api } = await start({ browser: 'stub' });
  const created: string[] = [];
  for (const note of ['a', 'b', 'c']) created.unshift((await api.create({ note })).body.sessionId);
  await api.stop(created[2] as string);
  const ids = async (query: string) =>
    (await api.get(`/sessions${query}`)).body.sessions.map(({ sessionId }: { sessionId: string }) => sessionId);
  expect(await ids('')).toEqual(created);
  expect(await ids('?status=active')).toEqual(created.slice(0, 2));
  expect(await ids('?status=completed')).toEqual(created.slice(2));
  expect(await ids('?page=2&pageSize=2')).toEqual(created.slice(2));
  expect((await api.get('/sessions?pageSize=5000')).body).toMatchObject({ page: 1, pageSize: 100, total: 3 });
  expect(await api.get('/sessions?status=gone')).toEqual({
    status: 400,
    body: { error: expect.stringMatching(/^status: /) },
  });
  expect((await api.get('/sessions?page=0')).status).toBe(400);
});

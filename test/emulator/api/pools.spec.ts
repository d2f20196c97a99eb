import type { Api } from '../../support/emulator/api.ts';
import { expect, test } from '../../support/emulator/fixtures.ts';
import { ManualClock } from '../../support/emulator/manual-clock.ts';
import { localChromium } from '../../support/local-chromium.ts';

async function createPool(api: Api, body: object = {}): Promise<string> {
  const { status, body: pool } = await api.post('/pools', { name: 'pool', size: 1, ...body });
  expect(status).toBe(201);
  return pool.id;
}

const readPool = async (api: Api, id: string) => (await api.get(`/pools/${id}`)).body;
const untilReady = (api: Api, id: string, ready = 1) =>
  expect.poll(async () => readPool(api, id)).toMatchObject({ status: 'ready', ready, starting: 0 });
const acquire = (api: Api, id: string, waitMs = 0, signal?: AbortSignal) =>
  api.post(`/pools/${id}/acquire`, { waitMs }, signal);

const NONE_READY = { status: 409, body: { error: 'No browser is currently ready in this pool' } };

test.describe('a pool', () => {
  test('warms browsers that are neither counted nor listed until they are leased', async ({ start }) => {
    const emulator = await start({ concurrentBrowsers: 1 });
    const { api } = emulator;
    const { status, body } = await api.post('/pools', { name: 'pool', size: 2, browser: { country: 'de' } });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^.{6,80}$/),
      name: 'pool',
      size: 2,
      status: 'warming',
      ready: 0,
      starting: 2,
      leased: 0,
      browser: { country: 'DE', timezone: 'Europe/Berlin', language: 'de-DE' },
      leaseTimeoutSeconds: 900,
      maxReadyAgeSeconds: 3600,
      lastError: null,
      createdAt: expect.any(String),
      updatedAt: body.createdAt,
    });
    await untilReady(api, body.id, 2);
    expect((await api.get('/pools')).body.pools).toEqual([await readPool(api, body.id)]);
    expect((await api.get('/sessions')).body.sessions).toEqual([]);
    expect(emulator.browserPids()).toHaveLength(2);
    expect((await api.create()).status).toBe(200); // warm browsers use no slot
    const refused = { status: 403, body: { error: 'Session limit reached' } };
    expect(await acquire(api, body.id)).toEqual(refused);
    expect(await acquire(api, body.id, 5_000)).toEqual(refused);
  });

  test('leases a warm browser, and ends it on release', async ({ start, connect }) => {
    const { api } = await start();
    const id = await createPool(api, { browser: { note: 'warm', timezone: 'America/Denver' } });
    await untilReady(api, id);
    const { status, body: lease } = await acquire(api, id);
    expect(status).toBe(200);
    expect(lease).toEqual({
      leaseId: expect.any(String),
      sessionId: expect.any(String),
      poolId: id,
      cdpUrl: expect.stringMatching(/^ws:/),
      session: expect.objectContaining({ sessionId: lease.sessionId, cdpUrl: lease.cdpUrl, note: 'warm' }),
    });
    expect((await readPool(api, id)).leased).toBe(1);
    const browser = await connect(lease.cdpUrl);
    const page = browser.contexts()[0]?.pages()[0];
    expect(await page?.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone)).toBe('America/Denver');
    // From now on, it is an ordinary session.
    expect((await api.active()).map(({ sessionId }: { sessionId: string }) => sessionId)).toEqual([lease.sessionId]);
    expect((await api.patch(`/session?sessionId=${lease.sessionId}`, { note: 'used' })).body.note).toBe('used');

    const closed = new Promise((resolve) => browser.once('disconnected', resolve));
    const release = () => api.post(`/pools/${id}/release`, { leaseId: lease.leaseId });
    const released = await release();
    await closed;
    expect(released).toEqual({
      status: 200,
      body: {
        poolId: id,
        leaseId: lease.leaseId,
        sessionId: lease.sessionId,
        status: 'returned',
        returnedAt: expect.any(String),
      },
    });
    expect(await release()).toEqual(released);
    expect((await api.session(lease.sessionId)).body).toMatchObject({ status: 'completed', bandwidthBytes: 0 });
    expect((await readPool(api, id)).leased).toBe(0);
    const unknown = await api.post(`/pools/${id}/release`, { leaseId: 'lease_nope' });
    expect(unknown).toEqual({ status: 404, body: { error: 'Pool lease not found' } });
  });

  test('leaves the processor to leased browsers for half a minute: replacements start later', async ({ start }) => {
    const clock = new ManualClock();
    const emulator = await start({}, clock);
    const { api } = emulator;
    const id = await createPool(api, { size: 2 });
    await untilReady(api, id, 2);
    const leases = [(await acquire(api, id)).body, (await acquire(api, id)).body];
    clock.advance(29_999);
    expect(await readPool(api, id)).toMatchObject({ status: 'warming', ready: 0, starting: 2, leased: 2 });
    expect(emulator.browserPids()).toHaveLength(2);
    clock.advance(1);
    await untilReady(api, id, 2);
    for (const { leaseId } of leases) await api.post(`/pools/${id}/release`, { leaseId });
  });

  test('replaces a browser one second after its end', async ({ start }) => {
    const clock = new ManualClock();
    const emulator = await start({}, clock);
    const { api } = emulator;
    const id = await createPool(api);
    await untilReady(api, id);
    const { leaseId } = (await acquire(api, id)).body;
    await api.post(`/pools/${id}/release`, { leaseId });
    clock.advance(999);
    expect(await readPool(api, id)).toMatchObject({ status: 'warming', ready: 0, starting: 1, leased: 0 });
    expect(emulator.browserPids()).toEqual([]);
    clock.advance(1);
    await untilReady(api, id);
  });

  test('starts replacements at once for who finds none ready, and from then on', async ({ start }) => {
    const { api } = await start({}, new ManualClock());
    const id = await createPool(api);
    await untilReady(api, id);
    expect((await acquire(api, id)).status).toBe(200);
    expect(await acquire(api, id)).toEqual(NONE_READY);
    await untilReady(api, id);
    expect((await acquire(api, id)).status).toBe(200);
    await untilReady(api, id);
  });

  for (const [how, change] of [
    ['flushed', (api: Api, id: string) => api.post(`/pools/${id}/flush`)],
    ['given a size', (api: Api, id: string) => api.patch(`/pools/${id}`, { size: 1 })],
  ] as const) {
    test(`starts replacements at once when it is ${how}`, async ({ start }) => {
      const { api } = await start({}, new ManualClock());
      const id = await createPool(api);
      await untilReady(api, id);
      expect((await acquire(api, id)).status).toBe(200);
      expect((await change(api, id)).status).toBe(200);
      await untilReady(api, id);
    });
  }

  test('serves waiting clients in order, and skips those that have disconnected', async ({ start }) => {
    const { api } = await start();
    const id = await createPool(api);
    expect(await acquire(api, id)).toEqual(NONE_READY);
    const order: string[] = [];
    const wait = (name: string, signal?: AbortSignal) =>
      acquire(api, id, 30_000, signal).then((answer) => {
        order.push(name);
        return answer;
      });
    const first = wait('first');
    const hangUp = new AbortController();
    const gone = wait('gone', hangUp.signal);
    const left = expect(gone).rejects.toThrow(/abort/i);
    hangUp.abort();
    await left;
    const second = wait('second');
    const answers = await Promise.all([first, second]);
    expect(order).toEqual(['first', 'second']);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    await untilReady(api, id);
    expect((await readPool(api, id)).leased).toBe(2);
  });

  test('responds with 409 when no browser is ready in time', async ({ start, fakeChromium }) => {
    const { api } = await start({ chromium: await fakeChromium('exec sleep 600') });
    const id = await createPool(api);
    const began = Date.now();
    expect(await acquire(api, id, 400)).toEqual(NONE_READY);
    expect(Date.now() - began).toBeGreaterThanOrEqual(390);
    expect((await acquire(api, id, 30_001)).body.error).toMatch(/^waitMs: /);
    expect((await api.post(`/pools/${id}/acquire`)).status).toBe(400); // JSON is required, {} at least
  });

  test('ends an expired lease, and recycles browsers that waited too long', async ({ start }) => {
    const clock = new ManualClock();
    const emulator = await start({}, clock);
    const { api } = emulator;
    const id = await createPool(api, { leaseTimeoutSeconds: 30, maxReadyAgeSeconds: 60 });
    await untilReady(api, id);
    const warmedAt = new Date(clock.now()).toISOString();
    clock.advance(10_000);
    const lease = (await acquire(api, id)).body;
    expect(lease.session.createdAt).toBe(warmedAt); // when it was warmed, not when it was leased
    clock.advance(30_000);
    await expect.poll(async () => (await api.session(lease.sessionId)).body.status).toBe('completed');
    await untilReady(api, id);
    expect((await readPool(api, id)).leased).toBe(0);
    const release = await api.post(`/pools/${id}/release`, { leaseId: lease.leaseId });
    expect(release).toMatchObject({ status: 200, body: { returnedAt: '2030-01-01T00:00:40.000Z' } });

    await expect.poll(() => emulator.browserPids().length).toBe(1);
    const [old] = emulator.browserPids();
    clock.advance(60_000);
    await expect.poll(() => emulator.browserPids()).not.toContain(old);
    await untilReady(api, id);
    expect((await readPool(api, id)).lastError).toBeNull();
  });

  test('is flushed: ready browsers are replaced, leased ones stay', async ({ start }) => {
    const emulator = await start();
    const id = await createPool(emulator.api);
    const lease = (await acquire(emulator.api, id, 20_000)).body;
    await untilReady(emulator.api, id);
    const before = emulator.browserPids();
    expect(await emulator.api.post(`/pools/${id}/flush`)).toEqual({ status: 200, body: { poolId: id, stopped: 1 } });
    await untilReady(emulator.api, id);
    expect(emulator.browserPids().filter((pid) => before.includes(pid))).toHaveLength(1);
    expect((await emulator.api.session(lease.sessionId)).body.status).toBe('active');
  });

  test('is paused and resumed', async ({ start, slowChromium }) => {
    const { api } = await start({ chromium: slowChromium });
    const id = await createPool(api);
    const waiting = acquire(api, id, 30_000);
    const paused = api.patch(`/pools/${id}`, { paused: true });
    expect((await paused).body).toMatchObject({ status: 'paused', ready: 0, starting: 0 });
    const refused = { status: 409, body: { error: 'Pool is paused' } };
    expect(await waiting).toEqual(refused);
    expect(await acquire(api, id, 1_000)).toEqual(refused);
    expect((await api.patch(`/pools/${id}`, { paused: false })).body.status).toBe('warming');
    expect((await acquire(api, id, 20_000)).status).toBe(200);
  });

  test('accepts a new size, name and template', async ({ start, connect }) => {
    const emulator = await start({ warmBrowserCap: 3 });
    const { api } = emulator;
    const id = await createPool(api, { size: 2 });
    const other = await createPool(api, { name: 'other' });
    await untilReady(api, id, 2);
    const path = `/pools/${id}`;
    expect(await api.patch(path, { size: 3 })).toEqual({
      status: 409,
      body: { error: 'Pool capacity 4 exceeds your pool limit of 3' },
    });
    const duplicate = { status: 409, body: { error: 'A pool named "other" already exists' } };
    expect(await api.patch(path, { name: 'other' })).toEqual(duplicate);
    expect(await api.post('/pools', { name: 'other', size: 1 })).toEqual(duplicate);
    expect((await api.delete(`/pools/${other}`)).body).toEqual({ success: true });
    expect((await api.patch(path, { size: 1, name: 'new' })).body).toMatchObject({ size: 1, name: 'new', ready: 1 });
    const old = emulator.browserPids();
    const { body } = await api.patch(path, { browser: { timezone: 'America/Chicago' } });
    expect(body.browser).toEqual({ country: 'US', timezone: 'America/Chicago', language: 'en-US' });
    expect(emulator.browserPids().filter((pid) => old.includes(pid))).toEqual([]);
    const lease = (await acquire(api, id, 20_000)).body;
    const page = (await connect(lease.cdpUrl)).contexts()[0]?.pages()[0];
    expect(await page?.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone)).toBe('America/Chicago');
  });

  test('is deleted, and with leased browsers only by force', async ({ start }) => {
    const emulator = await start();
    const { api } = emulator;
    const id = await createPool(api);
    const lease = (await acquire(api, id, 20_000)).body;
    const refused = { status: 409, body: { error: 'Pool has active leases; pass force=true to stop them' } };
    expect(await api.delete(`/pools/${id}`)).toEqual(refused);
    expect(await api.delete(`/pools/${id}?force=true`)).toEqual({ status: 200, body: { success: true } });
    expect((await api.get(`/pools/${id}`)).status).toBe(404);
    expect((await api.session(lease.sessionId)).body.status).toBe('completed');
    expect(emulator.browserPids()).toEqual([]);
  });

  test('replaces a warm browser that crashes', async ({ start }) => {
    const emulator = await start();
    const id = await createPool(emulator.api);
    await untilReady(emulator.api, id);
    const [pid] = emulator.browserPids();
    process.kill(pid as number, 'SIGKILL');
    await expect.poll(() => emulator.browserPids()).not.toContain(pid);
    await untilReady(emulator.api, id);
    expect((await readPool(emulator.api, id)).lastError).toBe('A warm browser ended (error)');
  });

  test('is degraded while its browsers fail to start, and recovers', async ({ start, fakeChromium }) => {
    const clock = new ManualClock();
    const chromium = await fakeChromium('echo broken >&2; exit 1');
    const { api } = await start({ chromium }, clock);
    const id = await createPool(api);
    await expect
      .poll(() => readPool(api, id))
      .toMatchObject({
        status: 'degraded',
        ready: 0,
        starting: 0,
        lastError: 'The browser failed to start',
      });
    expect(await acquire(api, id)).toEqual(NONE_READY);
    await fakeChromium(`exec '${await localChromium()}' "$@"`);
    clock.advance(1_000);
    await untilReady(api, id);
  });
});

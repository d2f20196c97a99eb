import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@playwright/test';
import type { ServiceError } from '../../../src/errors.ts';
import { ProvidedSessions } from '../../../src/providers/provided-sessions.ts';
import { type Provider, ProviderError, type ProviderErrorCode } from '../../../src/providers/provider.ts';

const CDP_URL = 'wss://browsers.example.com/?token=t0ken-word';

/** A provider in memory, with the calls that a test replaces. */
function sessionsOf(calls: Partial<Provider>) {
  const released: string[] = [];
  const provider: Provider = {
    acquire: async () => ({ id: 'b-1', cdpUrl: CDP_URL }),
    release: async (id, reason) => void released.push(`${id} ${reason}`),
    ...calls,
  };
  return { sessions: new ProvidedSessions(provider, 'browsers.ts'), released };
}

test('passes label, project and time on, and keeps address, headers and end', async () => {
  const expiresAt = new Date(Date.now() + 60_000);
  let asked: unknown;
  const { sessions, released } = sessionsOf({
    acquire: async ({ signal, ...request }) => {
      asked = { ...request, aborted: signal.aborted };
      return { id: 'b-1', cdpUrl: CDP_URL, headers: { 'x-key': 's3cret' }, expiresAt: expiresAt.toISOString() };
    },
  });
  const session = await sessions.createSession({ note: 'poolwright run=1' }, { project: 'us', needMs: 5_000 });
  expect(asked).toEqual({ label: 'poolwright run=1', project: 'us', needMs: 5_000, aborted: false });
  expect(session).toMatchObject({
    sessionId: 'b-1',
    cdpUrl: CDP_URL,
    own: { headers: { 'x-key': 's3cret' }, expiresAt },
  });
  await sessions.stopSession('b-1', { reason: 'finished' });
  expect(released).toEqual(['b-1 finished']);
});

const CODES: Record<ProviderErrorCode, [code: string, status: number, doubtful: boolean]> = {
  LIMIT_REACHED: ['SERVICE_LIMIT_REACHED', 403, false],
  CAPACITY: ['SERVICE_UNAVAILABLE', 503, false],
  UNAUTHORIZED: ['SERVICE_UNAUTHORIZED', 401, false],
  OUT_OF_CREDIT: ['SERVICE_OUT_OF_CREDIT', 402, false],
  INVALID: ['SERVICE_BAD_REQUEST', 400, false],
  UNAVAILABLE: ['SERVICE_FAILED', 500, true],
};

test('turns each failure into one that the failure policy knows', async () => {
  for (const [named, [code, status, doubtful]] of Object.entries(CODES)) {
    const failure = new ProviderError(named as ProviderErrorCode, 'no\nluck', { retryAfterMs: 7_000 });
    const { sessions } = sessionsOf({ acquire: () => Promise.reject(failure) });
    let doubts = 0;
    const failed: ServiceError = await sessions.createSession({}, { onDoubt: () => doubts++ }).catch((error) => error);
    expect(failed).toMatchObject({ code, status, retryAfterMs: 7_000, message: 'browsers.ts: no luck' });
    expect(doubts > 0, named).toBe(doubtful);
  }
});

test('releases a browser that it cannot use, also one that was not promised', async () => {
  for (const cdpUrl of ['localhost:9222', 'file:///browser', undefined]) {
    const acquire = () => ({ id: 'b-1', cdpUrl }) as never;
    for (const given of [acquire, async () => acquire()]) {
      const { sessions, released } = sessionsOf({ acquire: given });
      await expect(sessions.createSession()).rejects.toMatchObject({ code: 'SERVICE_BAD_RESPONSE' });
      expect(released).toEqual(['b-1 left-over']);
    }
  }
});

test('treats whatever else a provider throws as UNAVAILABLE, without the secrets of its browsers', async () => {
  let calls = 0;
  const { sessions } = sessionsOf({
    acquire: () => {
      calls += 1;
      if (calls > 1) throw new Error('fetch of wss://browsers.example.com/?token=t0ken-word with s3cret-header failed');
      return Promise.resolve({ id: 'b-1', cdpUrl: CDP_URL, headers: { 'x-key': 's3cret-header' } });
    },
    release: () => Promise.reject(new TypeError('gone')),
  });
  await sessions.createSession();
  const failed: Error = await sessions.createSession().catch((error) => error);
  expect(failed.message).toBe('browsers.ts: fetch of wss://browsers.example.com/*** with *** failed');
  await expect(sessions.stopSession('b-1')).rejects.toMatchObject({ code: 'SERVICE_FAILED', status: 500 });
});

test('releases a browser that comes when it is not needed any more', async () => {
  const { sessions, released } = sessionsOf({
    acquire: async () => {
      await delay(100);
      return { id: 'late', cdpUrl: CDP_URL };
    },
  });
  const givenUp = new AbortController();
  const created = sessions.createSession({}, { signal: givenUp.signal });
  givenUp.abort(new Error('not needed'));
  await expect(created).rejects.toMatchObject({ code: 'ABORTED' });
  expect(released).toEqual(['late left-over']);
});

test('releases a browser that cannot be connected to', async () => {
  const { sessions, released } = sessionsOf({ acquire: async () => ({ id: 'b-1', cdpUrl: 'http://127.0.0.1:1' }) });
  await expect(sessions.createSession()).rejects.toMatchObject({ code: 'CONNECT_FAILED', sessionId: 'b-1' });
  expect(released).toEqual(['b-1 connect-failed']);
});

test('says which part of what a call returned is wrong, and not its value', async () => {
  const wrong: [unknown, string][] = [
    [undefined, '`acquire` must return { id, cdpUrl, headers?, expiresAt? }.'],
    [{ cdpUrl: CDP_URL }, '`id` is wrong'],
    [{ id: 'b-1', cdpUrl: 's3cret' }, '`cdpUrl` is wrong'],
    [{ id: 'b-1', cdpUrl: CDP_URL, headers: { key: 5 } }, '`headers.key` is wrong'],
    [{ id: 'b-1', cdpUrl: CDP_URL, expiresAt: 'soon' }, '`expiresAt` is wrong'],
  ];
  for (const [value, text] of wrong) {
    const { sessions } = sessionsOf({ acquire: async () => value as never });
    const failed: Error = await sessions.createSession().catch((error) => error);
    expect(failed.message).toContain(text);
    expect(failed.message).not.toMatch(/s3cret|t0ken/);
  }
  const { sessions } = sessionsOf({});
  await sessions.createSession();
  await expect(sessions.createSession()).rejects.toThrow('`acquire` returned the id b-1 for two browsers');
});

test('what a provider cannot do is null or an error, never a zero', async () => {
  const { sessions } = sessionsOf({});
  expect(await sessions.getBilling()).toEqual({ plan: { concurrent_browsers: null } });
  expect((await sessions.getSession('b-1')).bandwidthBytes).toBeNull();
  await expect(sessions.getBalance()).rejects.toThrow('Only the service has account');
  const able = sessionsOf({ limit: async () => 3, usage: async (id) => id.length, list: async () => [{ id: 'x' }] });
  expect(await able.sessions.getBilling()).toEqual({ plan: { concurrent_browsers: 3 } });
  expect((await able.sessions.getSession('b-1')).bandwidthBytes).toBe(3);
  const listed = [];
  for await (const session of able.sessions.iterateSessions({ status: 'active' })) listed.push(session);
  expect(listed).toEqual([{ sessionId: 'x', status: 'active', note: null }]);
});

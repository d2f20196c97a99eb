import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@playwright/test';
import type { ServiceError } from '../../../src/errors.ts';
import { type AcquireRequest, unleased } from '../../../src/providers/port.ts';
import { ProvidedBrowsers } from '../../../src/providers/provided-browsers.ts';
import { type Provider, ProviderError, type ProviderErrorCode } from '../../../src/providers/provider.ts';

const CDP_URL = 'wss://browsers.example.com/?token=t0ken-word';

/** A provider in memory, with the calls that a test replaces. */
function browsersOf(calls: Partial<Provider>) {
  const released: string[] = [];
  /** What became of each browser, in order. */
  const account: string[] = [];
  const provider: Provider = {
    acquire: async () => ({ id: 'b-1', cdpUrl: CDP_URL }),
    release: async (id, reason) => void released.push(`${id} ${reason}`),
    ...calls,
  };
  const provided = new ProvidedBrowsers(provider, 'browsers.ts');
  const acquire = (request: Partial<AcquireRequest> = {}) =>
    provided.acquire({
      label: '',
      session: {},
      project: '',
      needMs: 0,
      askedAt: Date.now(),
      signal: new AbortController().signal,
      account: {
        known: ({ sessionId }) => account.push(`known ${sessionId}`),
        unused: ({ sessionId }) => account.push(`unused ${sessionId}`),
        doubt: () => account.push('doubt'),
        certain: () => account.push('certain'),
      },
      ...request,
    });
  return { provided, acquire, released, account };
}

test('passes label, project and time on, and keeps address, headers and end', async () => {
  const expiresAt = new Date(Date.now() + 60_000);
  let asked: unknown;
  const { provided, acquire, released } = browsersOf({
    acquire: async ({ signal, ...request }) => {
      asked = { ...request, aborted: signal.aborted };
      return { id: 'b-1', cdpUrl: CDP_URL, headers: { 'x-key': 's3cret' }, expiresAt: expiresAt.toISOString() };
    },
  });
  const askedAt = expiresAt.getTime() - 60_000;
  const browser = await acquire({ label: 'poolwright run=1', project: 'us', needMs: 5_000, askedAt });
  expect(asked).toEqual({ label: 'poolwright run=1', project: 'us', needMs: 5_000, aborted: false });
  expect(browser).toMatchObject({
    sessionId: 'b-1',
    cdpUrl: CDP_URL,
    headers: { 'x-key': 's3cret' },
    lifetimeSeconds: 60,
  });
  await provided.release(unleased('b-1'), { reason: 'finished' });
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
    const { acquire, account } = browsersOf({ acquire: () => Promise.reject(failure) });
    const failed: ServiceError = await acquire().catch((error) => error);
    expect(failed).toMatchObject({ code, status, retryAfterMs: 7_000, message: 'browsers.ts: no luck' });
    expect(account.includes('doubt'), named).toBe(doubtful);
  }
});

test('hands over a browser that it cannot use, also one that was not promised', async () => {
  for (const cdpUrl of ['localhost:9222', 'file:///browser', undefined]) {
    const give = () => ({ id: 'b-1', cdpUrl }) as never;
    for (const given of [give, async () => give()]) {
      const { acquire, account } = browsersOf({ acquire: given });
      await expect(acquire()).rejects.toMatchObject({ code: 'SERVICE_BAD_RESPONSE' });
      expect(account).toEqual(['known b-1']);
    }
  }
});

test('a result without an ID, and an error without a code, leave a doubt; a refusal does not', async () => {
  for (const [given, doubts] of [
    [async () => ({ cdpUrl: CDP_URL }) as never, ['doubt']],
    [() => Promise.reject(new Error('no')), ['doubt']],
    [() => Promise.reject(new ProviderError('CAPACITY', 'no')), []],
  ] as const) {
    const { acquire, account } = browsersOf({ acquire: given });
    await expect(acquire()).rejects.toThrow();
    expect(account).toEqual(doubts);
  }
});

test('treats whatever else a provider throws as UNAVAILABLE, without the secrets of its browsers', async () => {
  let calls = 0;
  const { provided, acquire } = browsersOf({
    acquire: () => {
      calls += 1;
      if (calls > 1) throw new Error('fetch of wss://browsers.example.com/?token=t0ken-word with s3cret-header failed');
      return Promise.resolve({ id: 'b-1', cdpUrl: CDP_URL, headers: { 'x-key': 's3cret-header' } });
    },
    release: () => Promise.reject(new TypeError('gone')),
  });
  await acquire();
  const failed: Error = await acquire().catch((error) => error);
  expect(failed.message).toBe('browsers.ts: fetch of wss://browsers.example.com/*** with *** failed');
  await expect(provided.release(unleased('b-1'))).rejects.toMatchObject({ code: 'SERVICE_FAILED', status: 500 });
});

test('hands over a browser that comes when it is not needed any more', async () => {
  const { acquire, account } = browsersOf({
    acquire: async () => {
      await delay(100);
      return { id: 'late', cdpUrl: CDP_URL };
    },
  });
  const givenUp = new AbortController();
  const created = acquire({ signal: givenUp.signal });
  givenUp.abort(new Error('not needed'));
  await expect(created).rejects.toMatchObject({ code: 'ABORTED' });
  expect(account).toEqual(['doubt', 'unused late', 'certain']);
});

test('a call that is given up and then refused leaves no doubt, and one that fails does', async () => {
  for (const [code, end] of [
    ['CAPACITY', []],
    ['UNAVAILABLE', ['doubt']],
  ] as const) {
    const { acquire, account } = browsersOf({
      acquire: ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(new ProviderError(code, 'aborted')))),
    });
    const givenUp = new AbortController();
    const created = acquire({ signal: givenUp.signal });
    givenUp.abort(new Error('not needed'));
    await expect(created).rejects.toMatchObject({ code: 'ABORTED' });
    expect(account).toEqual(end);
  }
});

test('hands over a browser that cannot be connected to before it asks for the address, and claims no release', async () => {
  const server = createServer();
  server.on('request', (_, response) => {
    account.push('asked');
    response.writeHead(404).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const { acquire, released, account } = browsersOf({
    acquire: async () => ({ id: 'b-1', cdpUrl: `http://127.0.0.1:${port}` }),
  });
  const failed: ServiceError = await acquire().catch((error) => error);
  expect(failed).toMatchObject({ code: 'CONNECT_FAILED', sessionId: 'b-1' });
  expect(failed.message).not.toMatch(/releas|stop/i);
  expect(account).toEqual(['known b-1', 'asked']);
  expect(released).toEqual([]);
  server.close();
});

test('repeats a release whatever its failure is called', async () => {
  for (const code of Object.keys(CODES) as ProviderErrorCode[]) {
    const { provided } = browsersOf({ release: () => Promise.reject(new ProviderError(code, 'no')) });
    await expect(provided.release(unleased('b-1')), code).rejects.toMatchObject({
      code: 'SERVICE_FAILED',
      retryable: true,
    });
  }
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
    const { acquire } = browsersOf({ acquire: async () => value as never });
    const failed: Error = await acquire().catch((error) => error);
    expect(failed.message).toContain(text);
    expect(failed.message).not.toMatch(/s3cret|t0ken/);
  }
  const { acquire, account } = browsersOf({});
  await acquire();
  await expect(acquire()).rejects.toThrow('`acquire` returned the id b-1 for two browsers');
  // To end the second would end the first.
  expect(account).toEqual(['known b-1']);
});

test('what a provider cannot do is null or an error, never a zero', async () => {
  const { provided } = browsersOf({});
  expect(await provided.limit()).toBeNull();
  expect((await provided.report('b-1')).bandwidthBytes).toBeNull();
  const able = browsersOf({ limit: async () => 3, usage: async (id) => id.length, list: async () => [{ id: 'x' }] });
  expect(await able.provided.limit()).toBe(3);
  expect((await able.provided.report('b-1')).bandwidthBytes).toBe(3);
  const listed = [];
  for await (const browser of able.provided.list()) listed.push(browser);
  expect(listed).toEqual([{ sessionId: 'x', note: null }]);
});

test('a limit that is not a number of browsers is one error at the first call', async () => {
  for (const limit of [0, 0.5, -1, Number.NaN, '3']) {
    const { provided } = browsersOf({ limit: async () => limit as number });
    await expect(provided.check(), String(limit)).rejects.toThrow(
      'browsers.ts: `limit` must return a whole number of browsers, at least 1, or null.',
    );
  }
  const { provided } = browsersOf({ limit: () => Promise.reject(new Error('not now')) });
  await provided.check();
});

test('one browser under two IDs is an error', async () => {
  let calls = 0;
  const cdpUrl = 'ws://127.0.0.1:9222/devtools/browser/4f1f3f3a-1111-4222-8333-444455556666';
  const { acquire } = browsersOf({ acquire: async () => ({ id: `b-${++calls}`, cdpUrl }) });
  await acquire();
  await expect(acquire()).rejects.toThrow('`acquire` returned the browser of b-1 again, as b-2');
});

test('follows no redirect of `/json/version`, which would take its headers to another host', async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers['x-api-key']} ${request.headers.authorization}`);
    response.writeHead(302, { location: '/other/json/version' }).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cdpUrl = `http://user:s3cret@127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const { acquire } = browsersOf({ acquire: async () => ({ id: 'b-1', cdpUrl, headers: { 'x-api-key': 'key' } }) });
  await expect(acquire()).rejects.toThrow('/json/version redirects to another address, which is not followed');
  expect(asked).toEqual([`/json/version key Basic ${Buffer.from('user:s3cret').toString('base64')}`]);
  server.close();
});

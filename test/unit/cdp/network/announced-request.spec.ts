import { expect, test } from '@playwright/test';
import { announcedRequest } from '../../../../src/cdp/network/request/announced-request.ts';
import type { PausedRequest } from '../../../../src/cdp/network/request/paused-request.ts';
import type { InterceptorTransport } from '../../../../src/cdp/transport/interceptor.ts';
import { errorOf } from '../../../../src/errors.ts';
import { FakeClock } from '../../../support/unit/broker/fake-clock.ts';
import { modelWith } from '../../../support/unit/cdp/model-with.ts';

const URL = 'http://localhost:1/upload';

/** A paused request that is not announced yet, and what the browser is asked meanwhile. */
function waiting() {
  const model = modelWith('s1');
  const clock = new FakeClock();
  const asked: { of: string; respond(): void; time(): void }[] = [];
  const call = async (method: string, _params: unknown, of = 'the browser') =>
    await new Promise<unknown>((resolve, reject) => {
      asked.push({ of, respond: () => resolve({}), time: () => reject(errorOf('TIMEOUT', method)) });
    });
  const transport = { model, call } as unknown as InterceptorTransport;
  const paused = { networkId: 'r1', target: { session: model.session('s1') } } as unknown as PausedRequest;
  const request = announcedRequest(transport, paused, URL, clock);
  const announce = () =>
    model.before({
      method: 'Network.requestWillBeSent',
      sessionId: 's1',
      params: { requestId: 'r1', loaderId: 'l1', documentURL: URL, type: 'Fetch', request: { url: URL } },
    });
  const next = async (of: string) => {
    await expect.poll(() => asked[0]?.of).toBe(of);
    return asked.shift();
  };
  return { clock, asked, request, announce, next };
}

test('takes an announcement that arrives after minutes, as with a large body on a slow connection', async () => {
  const { clock, asked, request, announce, next } = waiting();
  const page = await next('s1');
  await clock.advance(30_000);
  const browser = await next('the browser');
  page?.time();
  browser?.time();
  await next('s1');
  await next('the browser');
  announce();
  expect((await request)?.url).toBe(URL);
  expect(asked).toEqual([]);
});

test('waits no longer when the page has responded without an announcement', async () => {
  const { request, next } = waiting();
  (await next('s1'))?.respond();
  expect(await request).toBe(null);
});

test('waits no longer for a page that is blocked when the browser has responded', async () => {
  const { clock, asked, request, next } = waiting();
  const page = await next('s1');
  await clock.advance(30_000);
  (await next('the browser'))?.respond();
  expect(await request).toBe(null);
  page?.time();
  await clock.advance(0);
  expect(asked).toEqual([]);
});

import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@playwright/test';
import type { Session } from '../../../../src/cdp/model/session.ts';
import { ImpliedHeaders } from '../../../../src/cdp/network/proxied-requests/implied-headers.ts';
import type { InterceptorTransport } from '../../../../src/cdp/transport/interceptor.ts';
import { modelWith } from '../../../support/unit/cdp/model-with.ts';

const model = modelWith('page');
const session = [...model.sessions()][0] as Session;
const sender = { session, isDocument: true };
const navigation = { isNavigation: true };
const fetched = { isNavigation: false };

/** A browser that responds only on demand. */
function browser() {
  const unanswered: ((result: unknown) => void)[] = [];
  const call = () => new Promise((resolve) => unanswered.push(resolve));
  return {
    link: { model, call } as unknown as InterceptorTransport,
    async answer(result: unknown) {
      unanswered.shift()?.(result);
      await turn();
    },
  };
}

/** The result of a promise so far; `waiting` if there is none. */
async function byNow<T>(promise: Promise<T>): Promise<T | 'waiting'> {
  return await Promise.race([promise, turn('waiting' as const)]);
}

test('does not wait for the page of a navigation that contains its languages', async () => {
  const implied = new ImpliedHeaders(browser().link);
  implied.prepare(session);
  const complete = implied.complete({ 'Accept-Language': 'de-AT' }, sender, navigation);
  expect(await byNow(complete)).toEqual({ 'accept-language': 'de-AT' });
});

test("waits for the page's languages before any other request", async () => {
  const { link, answer } = browser();
  const implied = new ImpliedHeaders(link);
  implied.prepare(session);
  const complete = implied.complete({}, sender, fetched);
  expect(await byNow(complete)).toBe('waiting');
  await answer({ executionContextId: 7 });
  await answer({ result: { value: 'de,en' } });
  expect(await byNow(complete)).toEqual({ 'accept-language': 'de,en;q=0.9' });
});

test('uses the languages of the navigation when a page cannot report its own any more', async () => {
  const { link, answer } = browser();
  const implied = new ImpliedHeaders(link);
  implied.prepare(session);
  await implied.complete({ 'accept-language': 'de-AT' }, sender, navigation);
  await answer(null);
  expect(await byNow(implied.complete({}, sender, fetched))).toEqual({ 'accept-language': 'de-AT' });
});

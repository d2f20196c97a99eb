import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@playwright/test';
import { ImpliedHeaders } from '../../../../src/cdp/bridge/headers/implied-headers.ts';
import type { InterceptorLink } from '../../../../src/cdp/transport/interceptor.ts';
import { modelWith } from '../../../support/unit/cdp/model-with.ts';

const sender = { sessionId: 'page', contextId: 'context', isDocument: true, isNavigation: true };

/** A browser that answers nothing until it is told to. */
function browser() {
  const unanswered: ((result: unknown) => void)[] = [];
  const call = () => new Promise((resolve) => unanswered.push(resolve));
  return {
    link: { model: modelWith('page'), call } as unknown as InterceptorLink,
    async answer(result: unknown) {
      unanswered.shift()?.(result);
      await turn();
    },
  };
}

/** What a promise has come to by now; `waiting` if nothing. */
async function byNow<T>(promise: Promise<T>): Promise<T | 'waiting'> {
  return await Promise.race([promise, turn('waiting' as const)]);
}

test('a navigation that says its languages does not wait for its page, which answers only when it has arrived', async () => {
  const implied = new ImpliedHeaders(browser().link);
  implied.prepare('page', 'frame');
  const complete = implied.complete({ 'Accept-Language': 'de-AT' }, sender);
  expect(await byNow(complete)).toEqual({ 'accept-language': 'de-AT' });
});

test('any other request waits for what its page says', async () => {
  const { link, answer } = browser();
  const implied = new ImpliedHeaders(link);
  implied.prepare('page', 'frame');
  const complete = implied.complete({}, { ...sender, isNavigation: false });
  expect(await byNow(complete)).toBe('waiting');
  await answer({ executionContextId: 7 });
  await answer({ result: { value: 'de,en' } });
  expect(await byNow(complete)).toEqual({ 'accept-language': 'de,en;q=0.9' });
});

test('what a page cannot say any more is what its navigation has said', async () => {
  const { link, answer } = browser();
  const implied = new ImpliedHeaders(link);
  implied.prepare('page', 'frame');
  await implied.complete({ 'accept-language': 'de-AT' }, sender);
  await answer(null);
  expect(await byNow(implied.complete({}, { ...sender, isNavigation: false }))).toEqual({ 'accept-language': 'de-AT' });
});

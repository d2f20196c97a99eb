import { expect, test } from '@playwright/test';
import { modelWith } from '../../../support/unit/cdp/model-with.ts';

const sent = (requestId: string, url: string, redirectedFrom?: string) => ({
  method: 'Network.requestWillBeSent',
  sessionId: 's1',
  params: {
    requestId,
    loaderId: 'l1',
    documentURL: 'http://localhost:1/',
    type: 'Fetch',
    request: { url },
    ...(redirectedFrom !== undefined && { redirectResponse: { url: redirectedFrom } }),
  },
});

test('keeps nothing of a request when it is never announced', async () => {
  const { requests } = modelWith('s1');
  const end = new AbortController();
  const asked = [1, 2].map(() => requests.announced('r1', 'http://localhost:1/a', end.signal));
  expect(requests.size).toBe(1);
  end.abort();
  expect(await Promise.all(asked)).toEqual([null, null]);
  expect(requests.size).toBe(0);
});

test('keeps nothing of requests when they have ended, or their page has', async () => {
  const model = modelWith('s1');
  for (const id of ['r1', 'r2', 'r3']) model.before(sent(id, 'http://localhost:1/a'));
  model.after({ method: 'Network.loadingFinished', sessionId: 's1', params: { requestId: 'r1' } });
  model.after({ method: 'Network.loadingFailed', sessionId: 's1', params: { requestId: 'r2' } });
  expect(model.requests.size).toBe(1);
  model.after({ method: 'Target.detachedFromTarget', params: { sessionId: 's1' } });
  expect(model.requests.size).toBe(0);
});

test('takes any ID that the browser gives a request', async () => {
  const model = modelWith('s1');
  model.before(sent('error', 'http://localhost:1/a'));
  expect((await model.requests.announced('error', undefined, AbortSignal.abort()))?.url).toBe('http://localhost:1/a');
});

test('follows a redirect when another session reports it again', async () => {
  const model = modelWith('s1', 'of the test');
  const asked = model.requests.announced('r1', 'http://localhost:1/a', new AbortController().signal);
  model.before(sent('r1', 'http://localhost:1/a'));
  const first = await asked;
  for (const sessionId of ['s1', 'of the test']) {
    model.before({ ...sent('r1', 'http://localhost:1/b', 'http://localhost:1/a'), sessionId });
  }
  expect((await model.requests.announced('r1', 'http://localhost:1/b', AbortSignal.abort()))?.redirect?.from).toBe(
    first,
  );
});

import { expect, test } from '@playwright/test';
import { Announcements } from '../../../../src/cdp/bridge/intent/announcements.ts';
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
  const announcements = new Announcements(modelWith('s1'));
  const asked = [1, 2].map(() => announcements.of('r1', 'http://localhost:1/a'));
  expect(announcements.size).toBe(1);
  expect(await Promise.all(asked)).toEqual([null, null]);
  expect(announcements.size).toBe(0);
});

test('keeps nothing of requests when they have ended, or their page has', async () => {
  const model = modelWith('s1');
  const announcements = new Announcements(model);
  for (const id of ['r1', 'r2', 'r3']) announcements.observe(sent(id, 'http://localhost:1/a'));
  announcements.observe({ method: 'Network.loadingFinished', sessionId: 's1', params: { requestId: 'r1' } });
  announcements.observe({ method: 'Network.loadingFailed', sessionId: 's1', params: { requestId: 'r2' } });
  expect(announcements.size).toBe(1);
  model.after({ method: 'Target.detachedFromTarget', params: { sessionId: 's1' } });
  expect(announcements.size).toBe(0);
});

test('knows the way of a redirect when another session reports it again', async () => {
  const announcements = new Announcements(modelWith('s1'));
  const asked = announcements.of('r1', 'http://localhost:1/a');
  announcements.observe(sent('r1', 'http://localhost:1/a'));
  const first = await asked;
  for (const sessionId of ['s1', 'of the test']) {
    announcements.observe({ ...sent('r1', 'http://localhost:1/b', 'http://localhost:1/a'), sessionId });
  }
  expect((await announcements.of('r1', 'http://localhost:1/b'))?.redirectedFrom).toBe(first);
});

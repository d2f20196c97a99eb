import { expect, test } from '@playwright/test';
import { UniqueIds } from '../../../../src/clients/puppeteer/transport.ts';

test('tells commands of two sessions with the same ID apart', () => {
  const ids = new UniqueIds();
  const first = { id: 1, method: 'Page.enable', sessionId: 'A' };
  expect(ids.onCommand(first)).toBe(first);
  const second = ids.onCommand({ id: 1, method: 'Page.enable', sessionId: 'B' });
  expect(second.id).not.toBe(1);
  expect(ids.onMessage({ id: second.id ?? 0, sessionId: 'B', result: {} })).toEqual({
    id: 1,
    sessionId: 'B',
    result: {},
  });
  const response = { id: 1, sessionId: 'A', result: {} };
  expect(ids.onMessage(response)).toBe(response);
});

test('leaves a command as it is when no other has its ID', () => {
  const ids = new UniqueIds();
  for (const sessionId of ['A', 'B']) {
    const command = { id: 1, method: 'Page.enable', sessionId };
    expect(ids.onCommand(command)).toBe(command);
    ids.onMessage({ id: 1, sessionId, result: {} });
  }
});

test('forgets commands whose session has ended, because they get no response', () => {
  const ids = new UniqueIds();
  ids.onCommand({ id: 1, method: 'Page.enable', sessionId: 'A' });
  ids.onMessage({ method: 'Target.detachedFromTarget', params: { sessionId: 'A' } });
  const command = { id: 1, method: 'Page.enable', sessionId: 'B' };
  expect(ids.onCommand(command)).toBe(command);
});

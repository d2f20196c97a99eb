import { expect, test } from '@playwright/test';
import { Distance, Savings } from '../../../../src/cdp/figures.ts';
import type { CdpMessage } from '../../../../src/cdp/message.ts';
import { aLink, CRASHED, turn } from '../../../support/unit/cdp/a-link.ts';

/** Commands that Chromium does not respond to, or would respond to twice. */

test('rejects own commands when their session ends, or the session in which it was announced', async () => {
  const { list, link, attach } = aLink();
  attach('page', 'T');
  attach('frame', 'F', 'page');
  attach('other', 'O');
  const outcomes: string[] = [];
  for (const sessionId of ['page', 'frame', 'other']) {
    link.call('Page.enable', {}, sessionId).catch(({ message }: Error) => outcomes.push(`${sessionId}: ${message}`));
  }
  list.message({ method: 'Target.detachedFromTarget', params: { sessionId: 'page' } });
  await turn();
  await turn();
  expect(outcomes).toEqual([
    expect.stringContaining('page: the browser refused Page.enable: Session with given id not found.'),
    expect.stringContaining('frame: the browser refused Page.enable: Session with given id not found.'),
  ]);
  list.end();
});

test('lets the client reject its own commands when a session ends', async () => {
  const { list, attach, responses } = aLink();
  attach('page', 'T');
  list.command({ id: 1, method: 'Page.enable', sessionId: 'page' });
  list.message({ method: 'Target.detachedFromTarget', params: { sessionId: 'page' } });
  await turn();
  list.message({ id: 1, result: {}, sessionId: 'page' });
  expect(responses()).toEqual([]);
});

test('responds for a crashed process in all its sessions, except to commands that give the page another process', async () => {
  const { list, attach, crash, responses } = aLink();
  attach('page', 'T');
  attach('second', 'T');
  attach('other', 'O');
  for (const [index, sessionId] of ['page', 'second', 'other'].entries()) {
    list.command({ id: index + 1, method: 'Runtime.evaluate', sessionId });
  }
  list.command({ id: 4, method: 'Page.reload', sessionId: 'page' });
  await crash('page');
  expect(responses()).toEqual([
    { id: 1, sessionId: 'page', error: CRASHED },
    { id: 2, sessionId: 'second', error: CRASHED },
  ]);
  list.message({ id: 1, sessionId: 'page', error: CRASHED });
  list.message({ id: 4, sessionId: 'page', result: {} });
  expect(responses().map(({ id }) => id)).toEqual([1, 2, 4]);
});

test('rejects own commands sent to a page that has crashed, but not those that the browser responds to', async () => {
  const { list, link, toBrowser, attach, crash, responses } = aLink();
  attach('page', 'T');
  await crash('page');
  toBrowser.splice(0);
  const outcomes = [
    link.call('Runtime.evaluate', { expression: '1' }, 'page'),
    link.call('Network.getCookies', {}, 'page'),
    link.call('Page.reload', {}, 'page'),
  ];
  list.command({ id: 1, method: 'Runtime.evaluate', sessionId: 'page' });
  const idOf = (wanted: string) => toBrowser.find(({ method }) => method === wanted)?.id;
  list.message({ id: idOf('Network.getCookies'), result: 'cookies', sessionId: 'page' });
  list.message({ id: idOf('Browser.getVersion'), result: {} });
  await expect(outcomes[0]).rejects.toThrow('Target crashed');
  await expect(outcomes[1]).resolves.toBe('cookies');
  list.message({ method: 'Inspector.targetReloadedAfterCrash', sessionId: 'page' });
  list.message({ id: idOf('Page.reload'), result: 'reloaded', sessionId: 'page' });
  await expect(outcomes[2]).resolves.toBe('reloaded');
  toBrowser.splice(0);
  const later = link.call('Runtime.evaluate', { expression: '1' }, 'page');
  list.message({ id: idOf('Runtime.evaluate'), result: 'done', sessionId: 'page' });
  await expect(later).resolves.toBe('done');
  // The client gets what Chromium responds.
  expect(responses()).toEqual([]);
});

test('rejects own commands at once when the connection has closed', async () => {
  const { list, link } = aLink();
  list.end();
  await expect(link.call('Browser.getVersion')).rejects.toThrow('the connection to the browser closed');
});

test('drops a second response before an interceptor sees it', () => {
  const seen: CdpMessage[] = [];
  const { list, responses } = aLink(() => ({
    onMessage: (message) => {
      seen.push(message);
      return message;
    },
  }));
  list.command({ id: 1, method: 'Page.enable' });
  for (const id of [1, 1, 2]) list.message({ id, result: {} });
  expect(seen).toEqual([{ id: 1, result: {} }]);
  expect(responses()).toEqual([{ id: 1, result: {} }]);
});

test('ignores a response that the browser did not give when it measures the distance', async () => {
  let now = 0;
  const savings = new Savings(5, () => now);
  const { list, attach } = aLink((link) => new Distance(link, savings));
  attach('page', 'T');
  list.command({ id: 1, method: 'Runtime.evaluate', sessionId: 'page' });
  now += 100;
  list.message({ id: 1, result: {}, sessionId: 'page' });
  // The page closes while a command is pending, and the event about that is on its way here.
  const sent = list.call('Runtime.evaluate', { expression: '1' }, 'page');
  list.command({ id: 2, method: 'Runtime.evaluate', sessionId: 'page' });
  now += 1;
  list.message({ method: 'Target.detachedFromTarget', params: { sessionId: 'page' } });
  await expect(sent).rejects.toThrow('Session with given id not found');
  await turn();
  expect([savings.roundTripMs, savings.isFar]).toEqual([100, true]);
});

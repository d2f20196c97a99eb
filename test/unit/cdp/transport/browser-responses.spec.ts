import { expect, test } from '@playwright/test';
import { Distance } from '../../../../src/cdp/ahead/distance.ts';
import { Savings } from '../../../../src/cdp/ahead/savings.ts';
import { SentAhead } from '../../../../src/cdp/ahead/sent-ahead.ts';
import type { InterceptorFactory, InterceptorLink } from '../../../../src/cdp/transport/interceptor.ts';
import { InterceptorList } from '../../../../src/cdp/transport/interceptor-list.ts';
import type { CdpMessage } from '../../../../src/cdp/transport/message.ts';

/** Commands that Chromium leaves without a response, or would answer twice. */

const turn = () => new Promise((resolve) => setImmediate(resolve));
const CRASHED = { code: -32_000, message: 'Target crashed' };

function aLink(create?: (link: InterceptorLink) => ReturnType<InterceptorFactory>) {
  const [toBrowser, toClient]: [CdpMessage[], CdpMessage[]] = [[], []];
  const links: InterceptorLink[] = [];
  const factory: InterceptorFactory = (link) => {
    links.push(link);
    return create?.(link) ?? {};
  };
  const list = new InterceptorList([factory], {
    toBrowser: (command) => toBrowser.push(command),
    toClient: (message) => toClient.push(message),
  });
  const attach = (sessionId: string, targetId: string, parent?: string) => {
    const params = { sessionId, targetInfo: { targetId } };
    list.message({ method: 'Target.attachedToTarget', params, ...(parent !== undefined && { sessionId: parent }) });
  };
  /** The page's process crashes, and the browser answers what it was asked since. */
  const crash = async (sessionId: string) => {
    list.message({ method: 'Inspector.targetCrashed', sessionId });
    list.message({ id: toBrowser.find(({ method }) => method === 'Browser.getVersion')?.id, result: {} });
    await turn();
    await turn();
  };
  const responses = () => toClient.filter(({ id }) => id !== undefined);
  return { list, link: links[0] as InterceptorLink, toBrowser, attach, crash, responses };
}

test('rejects own commands when their session ends, or the one that it was announced in', async () => {
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

test('leaves it to the client to end its own commands when it hears that a session is over', async () => {
  const { list, attach, responses } = aLink();
  attach('page', 'T');
  list.command({ id: 1, method: 'Page.enable', sessionId: 'page' });
  list.message({ method: 'Target.detachedFromTarget', params: { sessionId: 'page' } });
  await turn();
  list.message({ id: 1, result: {}, sessionId: 'page' });
  expect(responses()).toEqual([]);
});

test('answers what a crashed process has not, in all of its sessions, but for what gives the page another', async () => {
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

test('ends what was sent ahead and asked for with the crash, and sends no more', async () => {
  let sent: SentAhead | undefined;
  const { list, attach, crash, responses, toBrowser } = aLink((link) => {
    const ahead = new SentAhead(link, new Savings());
    sent = ahead;
    return {
      onCommand: (command) => (ahead.ask('key', command) ? null : command),
      onMessage: (message) => ahead.onMessage(message),
    };
  });
  attach('page', 'T');
  sent?.send('key', { method: 'Runtime.evaluate', sessionId: 'page' });
  list.command({ id: 1, method: 'Runtime.evaluate', sessionId: 'page' });
  await crash('page');
  expect(responses()).toEqual([{ id: 1, sessionId: 'page', error: CRASHED }]);
  expect(toBrowser.map(({ method }) => method)).toEqual(['Runtime.evaluate', 'Browser.getVersion']);
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

test('a response that the browser did not give says nothing of how far away it is', async () => {
  let now = 0;
  const savings = new Savings(5, () => now);
  const { list, attach } = aLink(() => new Distance(savings));
  attach('page', 'T');
  list.command({ id: 1, method: 'Runtime.evaluate', sessionId: 'page' });
  now += 100;
  list.message({ id: 1, result: {}, sessionId: 'page' });
  // The page is closed while a command is on its way, and its end is on the way here.
  const sent = list.call('Runtime.evaluate', { expression: '1' }, 'page');
  list.command({ id: 2, method: 'Runtime.evaluate', sessionId: 'page' });
  now += 1;
  list.message({ method: 'Target.detachedFromTarget', params: { sessionId: 'page' } });
  await expect(sent).rejects.toThrow('Session with given id not found');
  await turn();
  expect([savings.roundTripMs, savings.isFar]).toEqual([100, true]);
});

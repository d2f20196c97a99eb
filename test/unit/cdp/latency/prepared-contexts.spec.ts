import { expect, test } from '@playwright/test';
import { Savings } from '../../../../src/cdp/figures.ts';
import { PreparedContexts } from '../../../../src/cdp/latency/contexts/prepared-contexts.ts';
import type { CdpMessage } from '../../../../src/cdp/message.ts';
import { InterceptorList } from '../../../../src/cdp/transport/interceptor-list.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('announces a page before the response to its command, also when the response is already queued', async () => {
  const savings = new Savings(0);
  savings.measured(100);
  const toBrowser: CdpMessage[] = [];
  const toClient: CdpMessage[] = [];
  const list = new InterceptorList([(link) => new PreparedContexts(link, savings)], {
    toBrowser: (command) => toBrowser.push(command),
    toClient: (message) => toClient.push(message),
  });
  const ask = (id: number, method: string, params: object = {}, sessionId?: string) =>
    list.command({ id, method, params, ...(sessionId !== undefined && { sessionId }) });
  const answer = (result: object) => list.message({ id: toBrowser.shift()?.id ?? 0, result });
  const attach = (browserContextId: string) =>
    list.message({
      method: 'Target.attachedToTarget',
      params: { sessionId: `of ${browserContextId}`, targetInfo: { targetId: 'page', type: 'page', browserContextId } },
    });
  const makeContext = (id: number, browserContextId: string) => {
    ask(id, 'Target.createBrowserContext', { disposeOnDetach: true });
    ask(id + 1, 'Browser.setDownloadBehavior', { behavior: 'allow', browserContextId });
    ask(id + 2, 'Target.createTarget', { url: 'about:blank', browserContextId });
  };
  ask(1, 'Browser.getVersion');
  answer({ product: 'HeadlessChrome/1' });
  makeContext(2, 'first');
  toBrowser.splice(0);
  ask(5, 'Runtime.callFunctionOn', {}, 'of first');
  toBrowser.splice(0);
  await turn();
  answer({ browserContextId: 'second' });
  expect(toBrowser.splice(0, 1)[0]?.method).toBe('Browser.setDownloadBehavior');
  attach('second');
  toClient.splice(0);
  ask(6, 'Target.createBrowserContext', { disposeOnDetach: true });
  await turn();
  expect(toClient.splice(0)).toEqual([{ id: 6, result: { browserContextId: 'second' } }]);
  // In one phase of the event loop: the client asks, and the response, which is already queued, comes next.
  setImmediate(() => ask(7, 'Target.createTarget', { url: 'about:blank', browserContextId: 'second' }));
  setImmediate(() => answer({ targetId: 'page' }));
  await turn();
  await turn();
  await turn();
  expect(toClient.map(({ id, method }) => id ?? method)).toEqual(['Target.attachedToTarget', 7]);
});

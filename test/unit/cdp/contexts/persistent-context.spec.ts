import { expect, test } from '@playwright/test';
import { BrowserHealth } from '../../../../src/cdp/contexts/browser-health.ts';
import { PersistentContext } from '../../../../src/cdp/contexts/persistent-context.ts';
import type { CdpMessage } from '../../../../src/cdp/message.ts';
import { InterceptorList } from '../../../../src/cdp/transport/interceptor-list.ts';
import { ModelBrowser } from '../../../models/cdp/model-browser.ts';

/** The default context, beside a browser that responds at once. */

/** More than enough for all responses, and done long before any time limit. */
const TURNS = 100;
const OWN = { browserContextId: 'own' };

/** The default context of a browser that has no page yet, and the messages that the client gets. */
function connect(health?: BrowserHealth) {
  const toClient: CdpMessage[] = [];
  const list: InterceptorList = new InterceptorList([(link) => new PersistentContext(link, { clear: false }, health)], {
    toBrowser: (command) => browser.receives(structuredClone(command)),
    toClient: (message) => toClient.push(message),
  });
  const browser = new ModelBrowser((message) => list.message(structuredClone(message)));
  const turns = async () => {
    for (let turn = 0; turn < TURNS; turn += 1) {
      if (!browser.isIdle) browser.answer(0);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const send = (id: number, method: string, params: object = {}) => list.command({ id, method, params });
  const responses = (...ids: number[]) => toClient.filter(({ id }) => id !== undefined && ids.includes(id));
  return { browser, toClient, send, turns, responses };
}

test('closes it for two commands at the same time: neither waits for a time limit', async () => {
  const { browser, toClient, send, turns, responses } = connect();
  send(1, 'Target.createBrowserContext');
  await turns();
  expect(responses(1)).toEqual([{ id: 1, result: OWN }]);
  send(2, 'Browser.setDownloadBehavior', { ...OWN, behavior: 'deny' });
  await turns();
  browser.open('own');
  await turns();
  expect(toClient).toContainEqual(expect.objectContaining({ method: 'Target.attachedToTarget' }));
  for (const id of [3, 4]) send(id, 'Target.disposeBrowserContext', OWN);
  await turns();
  expect(responses(3, 4)).toEqual([
    { id: 3, result: {} },
    { id: 4, result: {} },
  ]);
});

test('is the context of a command that comes while it is being closed, and of that one alone', async () => {
  const { send, turns, responses } = connect();
  send(1, 'Target.createBrowserContext');
  await turns();
  send(2, 'Target.disposeBrowserContext', OWN);
  send(3, 'Target.disposeBrowserContext', OWN);
  send(4, 'Target.createBrowserContext');
  send(5, 'Target.createBrowserContext');
  await turns();
  // The second close must not make it look closed once it is open again.
  send(6, 'Target.createBrowserContext');
  await turns();
  expect(responses(4)).toEqual([{ id: 4, result: OWN }]);
  const others = responses(5, 6).map(({ result }) => result);
  expect(others).toEqual([{ browserContextId: expect.any(String) }, { browserContextId: expect.any(String) }]);
  expect(others).not.toContainEqual(OWN);
});

test('a browser is not broken because its default context was opened and closed', async () => {
  const health = new BrowserHealth();
  const { send, turns, responses } = connect(health);
  send(1, 'Target.createBrowserContext');
  await turns();
  expect(health.fault(0)).toBeNull();
  send(2, 'Target.disposeBrowserContext', OWN);
  await turns();
  expect(responses(1, 2)).toEqual([
    { id: 1, result: OWN },
    { id: 2, result: {} },
  ]);
  expect(health.fault(0)).toBeNull();
});

import { expect, test } from '@playwright/test';
import { PersistentContext } from '../../../../src/cdp/contexts/persistent-context.ts';
import type { CdpMessage } from '../../../../src/cdp/message.ts';
import { InterceptorList } from '../../../../src/cdp/transport/interceptor-list.ts';
import { ModelBrowser } from '../../../models/cdp/model-browser.ts';

/** The default context, beside a browser that responds at once. */

/** More than enough for all responses, and done long before any time limit. */
const TURNS = 100;
const OWN = { browserContextId: 'own' };

test('closes it for two commands at the same time: neither waits for a time limit', async () => {
  const toClient: CdpMessage[] = [];
  const list: InterceptorList = new InterceptorList([(link) => new PersistentContext(link, { clear: false })], {
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
  list.command({ id: 1, method: 'Target.createBrowserContext', params: {} });
  await turns();
  expect(toClient).toContainEqual({ id: 1, result: OWN });
  list.command({ id: 2, method: 'Browser.setDownloadBehavior', params: { ...OWN, behavior: 'deny' } });
  await turns();
  browser.open('own');
  await turns();
  expect(toClient).toContainEqual(expect.objectContaining({ method: 'Target.attachedToTarget' }));
  for (const id of [3, 4]) list.command({ id, method: 'Target.disposeBrowserContext', params: OWN });
  await turns();
  expect(toClient.filter(({ id }) => id === 3 || id === 4)).toEqual([
    { id: 3, result: {} },
    { id: 4, result: {} },
  ]);
});

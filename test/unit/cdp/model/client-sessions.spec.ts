import { expect, test } from '@playwright/test';
import { BrowserModel } from '../../../../src/cdp/model/browser-model.ts';
import { ClientView } from '../../../../src/cdp/model/client-view.ts';
import { pageOf } from '../../../../src/cdp/model/session.ts';

/** Announces a session, and returns whether it is the client's. */
function attach(model: BrowserModel, sessionId: string, target: string, over?: string): boolean | undefined {
  const [type = ''] = target.split(' ');
  const targetInfo = { targetId: target, type, browserContextId: 'context' };
  const message = { method: 'Target.attachedToTarget', params: { sessionId, targetInfo } };
  model.before(over === undefined ? message : { ...message, sessionId: over });
  return model.session(sessionId)?.isClients;
}

function aView(model: BrowserModel): ClientView {
  const nothing = () => undefined;
  return new ClientView(model, { toClient: nothing, ended: nothing, letGo: nothing });
}

test("the first session on a target is the client's, and what is announced in it", () => {
  const model = new BrowserModel();
  expect(attach(model, 'tab', 'tab 1')).toBe(true);
  expect(attach(model, 'page', 'page 1', 'tab')).toBe(true);
  expect(attach(model, 'frame', 'iframe 1', 'page')).toBe(true);
  expect(attach(model, 'worker', 'worker 1', 'frame')).toBe(true);
  for (const id of ['page', 'frame', 'worker']) expect(pageOf(model.session(id))?.id, id).toBe('page 1');
  expect(pageOf(model.session('tab'))).toBe(undefined);
});

test("a session that a test opens is never the client's, not even after the first one has ended", () => {
  const model = new BrowserModel();
  attach(model, 'page', 'page 1');
  expect(attach(model, 'second', 'page 1')).toBe(false);
  expect(attach(model, 'with the browser', 'browser 1')).toBe(false);
  expect(attach(model, 'through it', 'page 2', 'with the browser')).toBe(false);
  expect(attach(model, 'below', 'iframe 1', 'second')).toBe(false);
  expect(attach(model, 'of an unknown one', 'page 3', 'not announced')).toBe(false);
  model.after({ method: 'Target.detachedFromTarget', params: { sessionId: 'page' } });
  expect(model.session('second')?.isClients).toBe(false);
});

test('a session on a target of ours leaves the next one to the client', () => {
  const model = new BrowserModel();
  aView(model).claim('page 1');
  expect(attach(model, 'ours', 'page 1')).toBe(false);
  expect(attach(model, 'next', 'page 1')).toBe(true);
});

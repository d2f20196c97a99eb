import { expect, test } from '@playwright/test';
import type { BrowserModel } from '../../../../src/cdp/model/browser-model.ts';
import { modelWith } from '../../../support/unit/cdp/model-with.ts';

/** A model with a page of the client and a session that a test has opened. */
function aModel(): BrowserModel {
  const model = modelWith('client');
  const targetInfo = { targetId: 'target of client', type: 'page', browserContextId: 'context' };
  model.before({ method: 'Target.attachedToTarget', params: { sessionId: 'test', targetInfo } });
  return model;
}

function navigate(model: BrowserModel, frame: object, sessionId = 'client', type = 'Navigation'): void {
  model.before({ method: 'Page.frameNavigated', sessionId, params: { frame, type } });
}

function meetWorld(model: BrowserModel, frameId: string, origin: string, sessionId = 'client'): void {
  const context = { id: origin.length, uniqueId: origin, origin, auxData: { isDefault: true, frameId } };
  model.before({ method: 'Runtime.executionContextCreated', sessionId, params: { context } });
}

test('a document gets the origin of its main world as soon as that is reported', async () => {
  const model = aModel();
  navigate(model, { id: 'main', loaderId: 'l1', url: 'about:blank#part' });
  const document = model.frames.document('l1');
  const origin = document?.origin();
  meetWorld(model, 'main', 'http://elsewhere', 'test');
  meetWorld(model, 'main', 'http://localhost:1');
  expect([document?.url, await origin]).toEqual(['about:blank', 'http://localhost:1']);
});

test('a document that leaves its frame without a world has no origin, and is kept for a while', async () => {
  const model = aModel();
  navigate(model, { id: 'main', loaderId: 'l0', url: 'http://localhost:1/' });
  const document = model.frames.document('l0');
  const origin = document?.origin();
  for (const loaderId of ['l1', 'l2', 'l3']) navigate(model, { id: 'main', loaderId, url: 'http://localhost:1/' });
  expect([await origin, document?.isPresent, model.frames.document('l0')]).toEqual([null, false, document]);
  navigate(model, { id: 'main', loaderId: 'l4', url: 'http://localhost:1/' });
  expect(model.frames.document('l0')).toBe(undefined);
});

test("a frame takes over the world of its empty document; a test's session reports nothing new", async () => {
  const model = aModel();
  meetWorld(model, 'main', 'http://localhost:1');
  navigate(model, { id: 'main', loaderId: 'l1', url: 'about:blank' });
  navigate(model, { id: 'main', loaderId: 'l2', url: 'http://elsewhere/' }, 'test');
  expect(model.frames.get('main')?.documents.map(({ loaderId }) => loaderId)).toEqual(['l1']);
  expect(await model.frames.document('l1')?.origin()).toBe('http://localhost:1');
});

test('removes frames with their parent document, and with their session', () => {
  const model = aModel();
  const inMain = { id: 'child', parentId: 'main', loaderId: 'c1', url: 'http://localhost:1/' };
  navigate(model, { id: 'main', loaderId: 'l1', url: 'http://localhost:1/' });
  navigate(model, inMain);
  model.after({ method: 'Page.frameDetached', sessionId: 'client', params: { frameId: 'child', reason: 'swap' } });
  expect(model.frames.document('c1')?.isPresent).toBe(true);
  const child = model.frames.document('c1');
  navigate(model, { id: 'main', loaderId: 'l2', url: 'http://localhost:1/' });
  expect([child?.isPresent, model.frames.get('child'), model.frames.document('c1')]).toEqual([
    false,
    undefined,
    undefined,
  ]);
  navigate(model, inMain);
  model.after({ method: 'Target.detachedFromTarget', params: { sessionId: 'client' } });
  expect([model.frames.get('main'), model.frames.get('child'), model.frames.document('c1')]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test('reports each document, and whether it comes from the back/forward cache', () => {
  const model = aModel();
  const seen: unknown[] = [];
  model.frames.onDocument(({ loaderId, isRestored, isUnreachable }) =>
    seen.push([loaderId, isRestored, isUnreachable]),
  );
  navigate(model, { id: 'main', loaderId: 'l1', url: 'http://localhost:1/' });
  navigate(model, { id: 'main', loaderId: 'l2', url: 'http://localhost:1/x', unreachableUrl: 'http://localhost:1/x' });
  navigate(model, { id: 'main', loaderId: 'l1', url: 'http://localhost:1/' }, 'client', 'BackForwardCacheRestore');
  expect(seen).toEqual([
    ['l1', false, false],
    ['l2', false, true],
    ['l1', true, false],
  ]);
});

import { expect, test } from '@playwright/test';
import type { BrowserModel } from '../../../../src/cdp/model/browser-model.ts';
import type { World } from '../../../../src/cdp/model/session.ts';
import { modelWith } from '../../../support/unit/cdp/model-with.ts';

/** Reports a world of the session `s1`. */
function meet(model: BrowserModel, id: number, uniqueId = `world ${id}`): World {
  const context = { id, uniqueId, origin: '', auxData: { isDefault: true, frameId: 'main' } };
  model.before({ method: 'Runtime.executionContextCreated', sessionId: 's1', params: { context } });
  const world = model.session('s1')?.worlds.get(id);
  if (!world) throw new Error(`no world ${id}`);
  return world;
}

const responds = (model: BrowserModel, result: object) => model.before({ id: 1, sessionId: 's1', result });

test('knows the next object of each world once its process has created one', () => {
  const model = modelWith('s1');
  const [one, two] = [meet(model, 1), meet(model, 2)];
  expect(model.objects.next(one)).toBe(null);
  responds(model, { result: { type: 'object', objectId: '77.1.4' } });
  expect([model.objects.next(one), model.objects.next(one, 2), model.objects.next(two)]).toEqual([
    '77.1.5',
    '77.1.7',
    '77.2.1',
  ]);
});

test('counts objects in nodes, properties and console messages, and none in a value', () => {
  const model = modelWith('s1');
  const world = meet(model, 1);
  responds(model, { object: { objectId: '77.1.1' } });
  responds(model, { result: [{ name: 'a', value: { objectId: '77.1.2' } }, { name: 'b' }] });
  expect(model.objects.next(world)).toBe('77.1.3');
  const params = { args: [{ objectId: '77.1.3' }] };
  model.before({ method: 'Runtime.consoleAPICalled', sessionId: 's1', params });
  responds(model, { result: { type: 'object', value: { objectId: '77.1.900' } } });
  expect(model.objects.next(world)).toBe('77.1.4');
});

test('an object on its way has its ID reserved, and an older response changes nothing', () => {
  const model = modelWith('s1');
  const world = meet(model, 1);
  responds(model, { result: { objectId: '77.1.1' } });
  expect([model.objects.reserve(world), model.objects.reserve(world)]).toEqual(['77.1.2', '77.1.3']);
  responds(model, { result: { objectId: '77.1.2' } });
  expect(model.objects.next(world)).toBe('77.1.4');
});

test('knows no ID in another process, whose worlds are numbered from the start', () => {
  const model = modelWith('s1');
  meet(model, 1);
  const last = meet(model, 2);
  responds(model, { result: { objectId: '77.2.1' } });
  const session = last.session;
  expect(model.objects.nextWorld(session)).toBe(3);
  model.after({ method: 'Runtime.executionContextsCleared', sessionId: 's1', params: {} });
  expect(model.objects.next(meet(model, 1, 'another'))).toBe(null);
  expect(model.objects.nextWorld(session)).toBe(2);
});

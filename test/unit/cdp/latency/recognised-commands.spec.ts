import { expect, test } from '@playwright/test';
import {
  belongsTo,
  isLasting,
  isSetUp,
  readOf,
} from '../../../../src/cdp/latency/puppeteer/reads/recognised-commands.ts';
import { PUPPETEER_DOCUMENT, PUPPETEER_QUERY, PUPPETEER_READS } from '../../../support/unit/cdp/puppeteer-functions.ts';

/** Puppeteer's own commands, in the spelling of its versions 22 to 25. */

const SOURCE_URL =
  '\n//# sourceURL=pptr:evaluate;%23asSVGElementHandle%20(file%3A%2F%2F%2Fapi%2FElementHandle.js%3A1389%3A28)\n';

function call(text: string) {
  const functionDeclaration = `${text}${SOURCE_URL}`;
  return { method: 'Runtime.callFunctionOn', params: { functionDeclaration, executionContextId: 4, arguments: [] } };
}

const OTHERS = [
  "element => { if (!(element instanceof HTMLElement)) { throw new Error('Cannot focus non-HTMLElement'); } return element.focus(); }",
  'async (element) => { element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" }); }',
  PUPPETEER_QUERY,
  'async (poller) => { await poller.stop(); }',
  'element => { return other instanceof SVGElement; }',
  'element => { element.remove(); return element instanceof SVGElement; }',
  '() => { return document; };evil()',
  '(h) => h.textContent',
];

test('recognizes what Puppeteer only reads in its own world', () => {
  for (const [kind, text] of Object.entries(PUPPETEER_READS)) {
    expect([text, readOf(call(text), true)]).toEqual([text, kind]);
    // The same text from a test runs in the page's own world.
    expect([text, readOf(call(text), false)]).toEqual([text, null]);
  }
  for (const text of OTHERS) expect([text, readOf(call(text), true)]).toEqual([text, null]);
});

test('recognizes nodes, and the document in any world', () => {
  expect(readOf(call(PUPPETEER_DOCUMENT), false)).toBe('document');
  expect(readOf({ method: 'DOM.describeNode', params: { objectId: '1.2.3' } }, false)).toBe('node');
  expect(readOf({ method: 'DOM.describeNode', params: { objectId: '1.2.3', depth: -1 } }, false)).toBe(null);
  expect(readOf({ method: 'DOM.resolveNode', params: { backendNodeId: 2, executionContextId: 4 } }, false)).toBe(
    'object',
  );
  expect(readOf({ method: 'DOM.resolveNode', params: { nodeId: 2 } }, false)).toBe(null);
  for (const method of ['Input.dispatchMouseEvent', 'Runtime.evaluate', 'Page.navigate', 'DOM.setFileInputFiles'])
    expect(readOf({ method, params: {} }, true)).toBe(null);
});

test('knows that any other read may be the first command of a call', () => {
  // `isIntersectingViewport()` and `clickablePoint()` of a handle that was used before.
  for (const previous of ['visible', 'object'] as const) expect(belongsTo('connected', previous)).toBe(false);
  expect(belongsTo('box', 'visible')).toBe(false);
  expect(belongsTo('connected', 'node')).toBe(false);
  expect(belongsTo('visible', 'svg')).toBe(true);
});

test('knows that the description of an element that embeds a document may change', () => {
  const described = (localName: string) => ({ result: { node: { backendNodeId: 2, localName, frameId: 'one' } } });
  expect(['', 'b', 'iframe', 'IFRAME', 'object'].map((name) => isLasting(described(name)))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
  expect(isLasting({ result: {} })).toBe(true);
});

test('recognizes what Puppeteer prepares in its own world of a document', () => {
  const name = 'puppeteer___ariaQuerySelector';
  const executionContextName = '__puppeteer_utility_world__25.16.0';
  expect(isSetUp({ method: 'Runtime.addBinding', params: { name, executionContextName } }, false)).toBe(true);
  expect(isSetUp({ method: 'Runtime.addBinding', params: { name } }, false)).toBe(false);
  expect(isSetUp({ method: 'Runtime.addBinding', params: { name: 'mine', executionContextName } }, false)).toBe(false);
  const binding = call('function addPageBinding(type, name, prefix) { if (globalThis[name]) { return; } }');
  const expression =
    '(() => {\n  const module = {};\n  "use strict";module.exports.default = {};\n  return module.exports.default;\n})()\n//# sourceURL=pptr:internal\n';
  const injected = { method: 'Runtime.evaluate', params: { expression, contextId: 4 } };
  for (const command of [binding, injected]) {
    expect(isSetUp(command, true)).toBe(true);
    expect(isSetUp(command, false)).toBe(false);
  }
  expect(isSetUp({ method: 'Runtime.evaluate', params: { expression: '6 * 7', contextId: 4 } }, true)).toBe(false);
});

import { expect, test } from '@playwright/test';
import { functionsOf, isRead } from '../../../../src/cdp/latency/reads/recognised-reads.ts';

/** A call as Playwright makes it in its isolated world. */
function call(text: string, ...more: unknown[]) {
  const handle = { objectId: '1.6.2' };
  const args = [
    handle,
    { value: true },
    { value: true },
    { value: text },
    { value: 2 },
    ...more.map((value) => ({ value })),
  ];
  return {
    method: 'Runtime.callFunctionOn',
    params: { functionDeclaration: '(utilityScript, ...args) => utilityScript.evaluate(...args)', arguments: args },
  };
}

/** In the spelling of Playwright 1.48 and 1.65. */
const READS = [
  '(r) => r.element',
  'r => r.element',
  '(r) => ({ log: r.log, success: r.success, box: r.box })',
  'r => ({\n        log: r.log,\n        success: r.success\n      })',
  '() => ({ width: innerWidth, height: innerHeight })',
  '(injected, e) => "JSHandle@" + injected.previewNode(e)',
  "([injected, node]) => injected.elementState(node, 'checked')",
  'async ([injected, node, { elementStates: elementStates2, frameVisible: frameVisible2 }]) => {\n            return await injected.checkElementStates(node, elementStates2, frameVisible2);\n          }',
  'async ([injected, node, {\n        elementStates\n      }]) => {\n        return await injected.checkElementStates(node, elementStates);\n      }',
];

const OTHERS = [
  '(h) => h.stop()',
  '(r) => r.element.remove()',
  '(r) => ({ log: r.log, gone: r.remove() })',
  '(r) => ({ log: other.log })',
  '([injected, node]) => injected.focusNode(node, "checked")',
  '(injected, e) => "JSHandle@" + injected.previewNode(e) + e.remove()',
  'async ([injected, node, { value: value3 }]) => { const checkResult = await injected.checkElementStates(node, value3); return injected.fill(node, value3); }',
  'async ([injected, node, { states }]) => { return await injected.checkElementStates(node, states); injected.fill(node); }',
  '() => document.title',
  '1 + 1',
];

test('recognizes what Playwright only reads, in every version', () => {
  for (const text of READS) expect([text, isRead(call(text))]).toEqual([text, true]);
});

test('recognizes nothing else', () => {
  for (const text of OTHERS) expect([text, isRead(call(text))]).toEqual([text, false]);
  expect(isRead(call('(r) => r.element', { functionText: '(e) => e.remove()' }))).toBe(false);
  for (const method of ['Input.dispatchMouseEvent', 'DOM.scrollIntoViewIfNeeded', 'Runtime.evaluate', 'Page.navigate'])
    expect(isRead({ method, params: {} })).toBe(false);
});

test('recognizes a barrier, and the position of an element', () => {
  expect(isRead({ method: 'Page.enable' })).toBe(true);
  expect(isRead({ method: 'Page.enable', params: { enableFileChooserOpenedEvent: true } })).toBe(false);
  expect(isRead({ method: 'DOM.getContentQuads', params: { objectId: '1.6.3' } })).toBe(true);
});

test('finds the functions that a call contains', () => {
  const inner = {
    o: [
      { k: 'functionText', v: '(e) => e.textContent' },
      { k: 'selector', v: 'button' },
    ],
  };
  expect(functionsOf(call('(injected) => 1', inner).params)).toEqual(['(injected) => 1', '(e) => e.textContent']);
  expect(functionsOf(undefined)).toEqual([]);
});

import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../../../transport/message.ts';

/** The beginning of the name that Puppeteer gives to its world in each document. */
export const UTILITY_WORLD = '__puppeteer_utility_world__';

/** Puppeteer's own functions that only read, as text with single spaces. Other spellings are not recognized. */
const READS = [
  // Whether an element is one, and attached
  /^async \(?(\w+)\)? => \{ if \(!\1\.isConnected\) \{ return '[\w ]+'; \} if \(\1\.nodeType !== Node\.ELEMENT_NODE\) \{ return '[\w ]+'; \} return; \}$/,
  /^\(?(\w+)\)? => \{ return \1 instanceof SVGElement; \}$/,
  // How much of it is in the viewport
  /^async \((\w+), (\w+)\) => \{ const (\w+) = await new Promise\((\w+) => \{ const (\w+) = new IntersectionObserver\((\w+) => \{ \4\(\6\[0\]\.intersectionRatio\); \5\.disconnect\(\); \}\); \5\.observe\(\1\); \}\); return \2 === 1 \? \3 === 1 : \3 > \2; \}$/,
  // Where it is
  /^\(?(\w+)\)? => \{ if \(!\(\1 instanceof Element\)\) \{ return null; \} return \[\.\.\.\1\.getClientRects\(\)\]\.map\((\w+) => \{ return \{ x: \2\.x, y: \2\.y, width: \2\.width, height: \2\.height,? \}; \}\); \}$/,
  // The size of the viewport
  /^\(\) => \{ return \{ documentWidth: document\.documentElement\.clientWidth, documentHeight: document\.documentElement\.clientHeight,? \}; \}$/,
  // An object of Puppeteer's that waits for a selector: it only observes the document
  /^\(?(\w+)\)? => \{ void \1\.start\(\); \}$/,
  /^\(?(\w+)\)? => \{ return \1\.result\(\); \}$/,
];
/** It cannot be replaced by the page. */
const DOCUMENT = /^\(\) => \{ return document; \}$/;
const PAGE_BINDING = /^function addPageBinding\(type, name\b/;
const INJECTED =
  /^\(\(\) => \{\s*const module = \{\};[\s\S]*return module\.exports\.default;\s*\}\)\(\)\s*\/\/# sourceURL=pptr:internal\s*$/;
const SOURCE_URL = /\n\/\/# sourceURL=pptr:.*\s*$/;

type Fields = Protocol.Runtime.CallFunctionOnRequest &
  Protocol.Runtime.AddBindingRequest &
  Protocol.Runtime.EvaluateRequest;

/**
 * What Puppeteer prepares in its own world of a new document before its first query. It changes nothing that a page can
 * see, and repeating it changes nothing at all.
 * @param isUtility whether it runs in that world
 */
export function isSetUp({ method, params }: CdpMessage, isUtility: boolean): boolean {
  const { functionDeclaration, expression, executionContextName, name } = fieldsOf<Fields>(params);
  if (method === 'Runtime.addBinding') {
    return isText(executionContextName, UTILITY_WORLD) && isText(name, 'puppeteer_');
  }
  if (!isUtility) return false;
  if (method === 'Runtime.evaluate') return typeof expression === 'string' && INJECTED.test(expression);
  return method === 'Runtime.callFunctionOn' && PAGE_BINDING.test(String(functionDeclaration));
}

/**
 * Whether a command only reads in a document, or makes an object for a node.
 * @param isUtility whether it runs in Puppeteer's own world
 */
export function isRead({ method, params }: CdpMessage, isUtility: boolean): boolean {
  const fields = Object.keys(fieldsOf(params)).sort().join();
  if (method === 'DOM.describeNode') return fields === 'objectId';
  if (method === 'DOM.resolveNode') return fields === 'backendNodeId,executionContextId';
  if (method !== 'Runtime.callFunctionOn') return false;
  const { functionDeclaration } = fieldsOf<Fields>(params);
  const text = String(functionDeclaration).replace(SOURCE_URL, '').replaceAll(/\s+/g, ' ').trim();
  return DOCUMENT.test(text) || (isUtility && READS.some((read) => read.test(text)));
}

function isText(value: unknown, beginning: string): boolean {
  return typeof value === 'string' && value.startsWith(beginning);
}

import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../../../message.ts';

/** The beginning of the name that Puppeteer gives to its world in each document. */
export const UTILITY_WORLD = '__puppeteer_utility_world__';

export type ReadKind =
  | 'document'
  | 'node'
  | 'object'
  | 'connected'
  | 'svg'
  | 'visible'
  | 'box'
  | 'viewport'
  | 'start'
  | 'result';

/** Puppeteer's own functions that only read, as text with single spaces. Other spellings are not recognized. */
const READS: readonly (readonly [ReadKind, RegExp])[] = [
  // Whether an element is one, and attached
  [
    'connected',
    /^async \(?(\w+)\)? => \{ if \(!\1\.isConnected\) \{ return '[\w ]+'; \} if \(\1\.nodeType !== Node\.ELEMENT_NODE\) \{ return '[\w ]+'; \} return; \}$/,
  ],
  ['svg', /^\(?(\w+)\)? => \{ return \1 instanceof SVGElement; \}$/],
  // How much of it is in the viewport
  [
    'visible',
    /^async \((\w+), (\w+)\) => \{ const (\w+) = await new Promise\((\w+) => \{ const (\w+) = new IntersectionObserver\((\w+) => \{ \4\(\6\[0\]\.intersectionRatio\); \5\.disconnect\(\); \}\); \5\.observe\(\1\); \}\); return \2 === 1 \? \3 === 1 : \3 > \2; \}$/,
  ],
  // Where it is
  [
    'box',
    /^\(?(\w+)\)? => \{ if \(!\(\1 instanceof Element\)\) \{ return null; \} return \[\.\.\.\1\.getClientRects\(\)\]\.map\((\w+) => \{ return \{ x: \2\.x, y: \2\.y, width: \2\.width, height: \2\.height,? \}; \}\); \}$/,
  ],
  // The size of the viewport
  [
    'viewport',
    /^\(\) => \{ return \{ documentWidth: document\.documentElement\.clientWidth, documentHeight: document\.documentElement\.clientHeight,? \}; \}$/,
  ],
  // An object of Puppeteer's that waits for a selector: it only observes the document
  ['start', /^\(?(\w+)\)? => \{ void \1\.start\(\); \}$/],
  ['result', /^\(?(\w+)\)? => \{ return \1\.result\(\); \}$/],
];
/** It cannot be replaced by the page. */
const DOCUMENT = /^\(\) => \{ return document; \}$/;

/**
 * What a read can follow within one call, and only there: no call of Puppeteer's begins with such a read of what that
 * command is about. `other` is a function in Puppeteer's own world, such as a query. An object's node never changes, so
 * that it may also follow the object in the next call ({@link isIdentity}).
 *
 * The position of an element does not follow its visibility: `handle.clickablePoint()` begins with it. Neither does
 * whether it is connected follow its new object: later calls, which reuse that object, begin with it, and the call that
 * has created the object may have failed since, without another command (`handle.select(5)`).
 */
const FOLLOWS: Partial<Record<ReadKind, readonly (ReadKind | 'other')[]>> = {
  node: ['document', 'other', 'object'],
  object: ['node'],
  svg: ['connected'],
  visible: ['svg'],
  viewport: ['box'],
  start: ['other'],
  result: ['start'],
};

/** Whether a read can follow this one early. @param previous null for `other` */
export function belongsTo(kind: ReadKind, previous: ReadKind | null): boolean {
  return FOLLOWS[kind]?.includes(previous ?? 'other') ?? false;
}

/**
 * Elements whose description can change: it contains the document that they embed, which `handle.contentFrame()` asks
 * for.
 */
const EMBEDS = /^(?:i?frame|object|embed|fencedframe)$/i;

/** Whether a read results in the node of an object, or in an object for a node: neither ever changes. */
export function isIdentity(kind: ReadKind | null): boolean {
  return kind === 'node' || kind === 'object';
}

/** Whether the response to such a command is always the same. */
export function isLasting({ result }: CdpMessage): boolean {
  const { node } = fieldsOf<Protocol.DOM.DescribeNodeResponse>(result);
  return !EMBEDS.test(String(fieldsOf<Protocol.DOM.Node>(node).localName));
}

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
 * What a command reads, if it only reads in a document or makes an object for a node; otherwise null.
 * @param isUtility whether it runs in Puppeteer's own world
 */
export function readOf({ method, params }: CdpMessage, isUtility: boolean): ReadKind | null {
  const fields = Object.keys(fieldsOf(params)).sort().join();
  if (method === 'DOM.describeNode') return fields === 'objectId' ? 'node' : null;
  if (method === 'DOM.resolveNode') return fields === 'backendNodeId,executionContextId' ? 'object' : null;
  if (method !== 'Runtime.callFunctionOn') return null;
  const { functionDeclaration } = fieldsOf<Fields>(params);
  const text = String(functionDeclaration).replace(SOURCE_URL, '').replaceAll(/\s+/g, ' ').trim();
  if (DOCUMENT.test(text)) return 'document';
  return (isUtility && READS.find(([, read]) => read.test(text))?.[0]) || null;
}

function isText(value: unknown, beginning: string): boolean {
  return typeof value === 'string' && value.startsWith(beginning);
}

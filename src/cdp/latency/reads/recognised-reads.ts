import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../../message.ts';

/** Functions that only read, as text with single spaces. Other spellings are not recognized. */
const READS = [
  // A field of a handle: `(r) => r.element`
  /^\(?(\w+)\)? => \1\.\w+$/,
  // Some of its fields: `(r) => ({ log: r.log, success: r.success })`
  /^\(?(\w+)\)? => \(\{ \w+: \1\.\w+(?:, \w+: \1\.\w+)* \}\)$/,
  // The size of the viewport
  /^\(\) => \(\{ width: innerWidth, height: innerHeight \}\)$/,
  // What an element looks like, for the log
  /^\((\w+), (\w+)\) => ["']JSHandle@["'] \+ \1\.previewNode\(\2\)$/,
  // Whether an element is checked, visible, enabled …
  /^\(\[(\w+), (\w+)\]\) => \1\.elementState\(\2, ["']\w+["']\)$/,
  // Whether it is all of those and does not move
  /^async \(\[(\w+), (\w+), \{[\w:, ]*\}\]\) => \{ return await \1\.checkElementStates\(\2(?:, \w+)*\); \}$/,
];

type CallFields = Protocol.Runtime.CallFunctionOnRequest;

/** The functions in a call's arguments: Playwright's own text, without selectors or values. */
export function functionsOf(params: unknown): string[] {
  const found: string[] = [];
  collect(fieldsOf<CallFields>(params).arguments, found);
  return found;
}

/** Whether a command only reads in a document, or waits until the browser has got that far. */
export function isRead({ method, params }: CdpMessage): boolean {
  if (method === 'DOM.getContentQuads') return true;
  // The domain is already enabled: the client repeats the command as a barrier.
  if (method === 'Page.enable') return Object.keys(fieldsOf(params)).length === 0;
  if (method !== 'Runtime.callFunctionOn') return false;
  const [text, ...more] = functionsOf(params);
  if (text === undefined || more.length > 0) return false;
  const plain = text.replaceAll(/\s+/g, ' ').trim();
  return READS.some((read) => read.test(plain));
}

function collect(value: unknown, found: string[]): void {
  if (typeof value === 'string') {
    if (value.includes('=>')) found.push(value);
  } else if (Array.isArray(value)) {
    for (const each of value) collect(each, found);
  } else if (typeof value === 'object' && value !== null) {
    for (const each of Object.values(value)) collect(each, found);
  }
}

import * as v from 'valibot';
import { parsedJson } from '../../common/text/parsed-json.ts';
import { MAX_TEXT, type PageMessage } from '../messages.ts';

/** Checks messages of pages: they come from a browser. */

/** Limit of one message. */
export const MAX_MESSAGE_BYTES = 256 * 1024;
const MAX_SLOTS = 1_000;
const MAX_DELTA = 100_000;

const name = v.pipe(v.string(), v.maxLength(500));
const shortName = v.pipe(v.string(), v.maxLength(50));
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const share = v.pipe(v.number(), v.minValue(0), v.maxValue(1));
const delta = v.pipe(v.number(), v.minValue(-MAX_DELTA), v.maxValue(MAX_DELTA));
const modifiers = v.strictObject({ alt: v.boolean(), control: v.boolean(), meta: v.boolean(), shift: v.boolean() });

const input = v.variant('kind', [
  v.strictObject({
    kind: v.literal('mouse'),
    type: v.picklist(['down', 'move', 'up']),
    x: share,
    y: share,
    button: v.picklist([0, 1, 2, 3, 4]),
    buttons: v.pipe(count, v.maxValue(31)),
    clickCount: v.pipe(count, v.maxValue(10)),
    modifiers,
  }),
  v.strictObject({ kind: v.literal('wheel'), x: share, y: share, deltaX: delta, deltaY: delta, modifiers }),
  v.strictObject({
    kind: v.literal('key'),
    type: v.picklist(['down', 'up']),
    key: shortName,
    code: shortName,
    keyCode: v.pipe(count, v.maxValue(0xffff)),
    modifiers,
  }),
  v.strictObject({ kind: v.literal('text'), text: v.pipe(v.string(), v.maxLength(MAX_TEXT)) }),
]);

const message = v.variant('type', [
  v.strictObject({
    type: v.literal('demand'),
    slots: v.pipe(
      v.array(v.strictObject({ run: name, slot: count, size: v.picklist(['large', 'small']) })),
      v.maxLength(MAX_SLOTS),
    ),
  }),
  v.strictObject({ type: v.literal('shown'), number: count }),
  v.strictObject({ type: v.literal('input'), run: name, slot: count, target: name, input }),
  v.strictObject({ type: v.literal('release'), run: name, slot: count }),
]);

/** A message of a page; null if it is invalid. */
export function parsePageMessage(text: string): PageMessage | null {
  const { success, output } = v.safeParse(message, parsedJson(text));
  return success ? output : null;
}

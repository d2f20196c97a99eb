import * as v from 'valibot';
import { pageInput } from '../../common/page/page-input.ts';
import { parsedJson } from '../../common/text/parsed-json.ts';
import { MAX_TEXT } from '../messages.ts';

/** The messages of pages, which are checked: they come from a browser. */

/** Limit of one message. */
export const MAX_MESSAGE_BYTES = 256 * 1024;
const MAX_SLOTS = 1_000;

const name = v.pipe(v.string(), v.maxLength(500));
const input = v.pipe(
  pageInput,
  v.check((given) => given.kind !== 'text' || given.text.length <= MAX_TEXT),
);
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const message = v.variant('type', [
  /** The slots that its reader sees, which replace those of the last message. */
  v.strictObject({
    type: v.literal('demand'),
    slots: v.pipe(
      v.array(v.strictObject({ run: name, slot: count, size: v.picklist(['large', 'small']) })),
      v.maxLength(MAX_SLOTS),
    ),
  }),
  /** The picture of this number has been drawn: the slot's next one may come. */
  v.strictObject({ type: v.literal('shown'), number: count }),
  v.strictObject({ type: v.literal('input'), run: name, slot: count, target: name, input }),
  v.strictObject({ type: v.literal('release'), run: name, slot: count }),
]);

export type PageMessage = v.InferOutput<typeof message>;

/** Null if it is invalid. */
export function parsePageMessage(text: string): PageMessage | null {
  const { success, output } = v.safeParse(message, parsedJson(text));
  return success ? output : null;
}

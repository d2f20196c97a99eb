import * as v from 'valibot';

/**
 * What a person does in a page on hold, as they see it in its picture. Sent by the watch page, done by the transport.
 * Positions are fractions of the picture, 0 to 1.
 */

/** How far a wheel turns at once, in pixels. */
const MAX_DELTA = 100_000;

const share = v.pipe(v.number(), v.minValue(0), v.maxValue(1));
const delta = v.pipe(v.number(), v.minValue(-MAX_DELTA), v.maxValue(MAX_DELTA));
const keyName = v.pipe(v.string(), v.maxLength(50));
const atMost = (most: number) => v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(most));

const modifiers = v.strictObject({ alt: v.boolean(), control: v.boolean(), meta: v.boolean(), shift: v.boolean() });
/** Buttons as in `MouseEvent`. */
const mouseInput = v.strictObject({
  kind: v.literal('mouse'),
  type: v.picklist(['down', 'move', 'up']),
  x: share,
  y: share,
  button: atMost(4),
  buttons: atMost(31),
  clickCount: atMost(10),
  modifiers,
});
const wheelInput = v.strictObject({
  kind: v.literal('wheel'),
  x: share,
  y: share,
  deltaX: delta,
  deltaY: delta,
  modifiers,
});
/** As in `KeyboardEvent`. */
const keyInput = v.strictObject({
  kind: v.literal('key'),
  type: v.picklist(['down', 'up']),
  key: keyName,
  code: keyName,
  keyCode: atMost(0xffff),
  modifiers,
});
/** Text from an input method or the clipboard. */
const textInput = v.strictObject({ kind: v.literal('text'), text: v.string() });

export const pageInput = v.variant('kind', [mouseInput, wheelInput, keyInput, textInput]);

export type PageInput = v.InferOutput<typeof pageInput>;
export type PointerInput = MouseInput | v.InferOutput<typeof wheelInput>;
export type MouseInput = v.InferOutput<typeof mouseInput>;
export type KeyInput = v.InferOutput<typeof keyInput>;
export type Modifiers = v.InferOutput<typeof modifiers>;

/** Size of a page's visible part, in CSS pixels. */
export interface PageSize {
  width: number;
  height: number;
}

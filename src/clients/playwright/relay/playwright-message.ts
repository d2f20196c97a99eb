import * as v from 'valibot';
import { parsedJson } from '../../../common/text/parsed-json.ts';

/**
 * A message of Playwright's protocol, as far as it is read here: a call (`id`, `guid`, `method`), its response (`id`)
 * or an event (`guid`, `method`). Events with two underscores create and remove objects.
 */
const playwrightMessage = v.looseObject({
  /** Its type depends on the version. */
  id: v.optional(v.union([v.string(), v.number()])),
  guid: v.optional(v.string()),
  method: v.optional(v.string()),
  params: v.optional(v.record(v.string(), v.unknown())),
  error: v.optional(v.unknown()),
});

export type PlaywrightMessage = v.InferOutput<typeof playwrightMessage>;

const reference = v.object({ guid: v.string() });
const created = v.object({ type: v.string(), guid: v.string(), initializer: v.record(v.string(), v.unknown()) });
const creation = v.object({ result: v.record(v.string(), v.unknown()) });

/** Longer ones are neither calls nor events that matter here, in characters. */
const MAX_LENGTH = 100_000;

/** Reads a message; null if it is too long to matter, or has another form than all known versions use. */
export function readMessage(text: string): PlaywrightMessage | null {
  if (text.length > MAX_LENGTH) return null;
  const { success, output } = v.safeParse(playwrightMessage, parsedJson(text));
  return success ? output : null;
}

/** An object that the server creates; null if the message is another one. */
export function createdBy({ method, params }: PlaywrightMessage): v.InferOutput<typeof created> | null {
  if (method !== '__create__') return null;
  const found = v.safeParse(created, params);
  return found.success ? found.output : null;
}

/** The ID of the object that a response returns; null if it is another response, or an error. */
export function guidIn(message: PlaywrightMessage, field: 'context' | 'page'): string | null {
  const found = v.safeParse(creation, message);
  return found.success ? referenceIn(found.output.result[field]) : null;
}

/** The ID of an object that a field refers to; null if it is none. */
export function referenceIn(value: unknown): string | null {
  const found = v.safeParse(reference, value);
  return found.success ? found.output.guid : null;
}

/** Whether a message mentions one of these objects. */
export function includesAny(text: string, objects: Set<string>): boolean {
  for (const object of objects) if (text.includes(object)) return true;
  return false;
}

import { compareTypes } from './compare-types.ts';
import { field, type Say } from './difference.ts';
import type { Shape } from './shape.ts';

/** Compares the service's responses with those that we can read. */
export function compareResponse(ours: Shape, theirs: Shape, at: string, say: Say): void {
  if (!compareTypes(theirs, ours, at, 'the service may respond with', 'we read', say)) return;
  // What one side says nothing of can hold anything.
  if (ours.properties.size > 0 && theirs.properties.size > 0) compareFields(ours, theirs, at, say);
  if (ours.items && theirs.items) compareResponse(ours.items, theirs.items, `${at}[]`, say);
}

function compareFields(ours: Shape, theirs: Shape, at: string, say: Say): void {
  for (const [name, shape] of ours.properties) {
    const other = theirs.properties.get(name);
    const isNeeded = ours.required.has(name);
    const where = field(at, name);
    if (other && isNeeded && !theirs.required.has(name))
      say('differs', `${where} may be absent, but poolwright needs it`);
    if (other) compareResponse(shape, other, where, say);
    else if (isNeeded) say('breaks', `${where} is missing in the description, but poolwright needs it`);
    else say('ours', `${where} is missing in the description`);
  }
  for (const name of theirs.properties.keys()) {
    if (!ours.properties.has(name)) say('theirs', `${field(at, name)} is missing in poolwright's types`);
  }
}

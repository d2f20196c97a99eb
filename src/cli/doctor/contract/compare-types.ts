import { list, type Say } from './difference.ts';
import type { Shape } from './shape.ts';

/** Says which types come that are not taken; returns whether it is worth going on. */
export function compareTypes(come: Shape, taken: Shape, at: string, coming: string, taking: string, say: Say): boolean {
  if (come.types.size === 0 || taken.types.size === 0) return true;
  const refused = [...come.types].filter((type) => !takes(taken.types, type));
  if (refused.length > 0) {
    say('breaks', `${at}: ${coming} ${list(refused)}, ${taking} ${list([...taken.types])}`);
  }
  return refused.length < come.types.size;
}

function takes(types: ReadonlySet<string>, type: string): boolean {
  return types.has(type) || (type === 'integer' && types.has('number'));
}

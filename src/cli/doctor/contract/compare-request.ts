import { compareTypes } from './compare-types.ts';
import { field, list, type Say } from './difference.ts';
import type { Shape } from './shape.ts';

/** What we may send, against what the service takes. */
export function compareRequest(ours: Shape, theirs: Shape, at: string, say: Say): void {
  if (!compareTypes(ours, theirs, at, 'we may send', 'the service takes', say)) return;
  compareValues(ours, theirs, at, say);
  for (const [name, shape] of ours.properties) {
    const other = theirs.properties.get(name);
    if (other) compareRequest(shape, other, field(at, name), say);
    else if (theirs.isClosed) say('breaks', `${field(at, name)} is refused by the service, which does not know it`);
    else if (theirs.properties.size > 0) say('ours', `${field(at, name)} is not known to the service`);
  }
  if (ours.properties.size > 0) compareNames(ours, theirs, at, say);
  if (ours.items && theirs.items) compareRequest(ours.items, theirs.items, `${at}[]`, say);
}

/** Which of the service's fields we send. */
function compareNames(ours: Shape, theirs: Shape, at: string, say: Say): void {
  for (const name of theirs.properties.keys()) {
    const isRequired = theirs.required.has(name);
    const isKnown = ours.properties.has(name);
    if (!isKnown && !isRequired) say('theirs', `${field(at, name)} cannot be sent by us`);
    if (isRequired && !ours.required.has(name))
      say('breaks', `${field(at, name)} is required, and may be absent in what we send`);
  }
}

/** Of what we send: lists of values and bounds. */
export function compareValues(ours: Shape, theirs: Shape, at: string, say: Say): void {
  if (theirs.values) {
    const refused = (ours.values ?? []).filter((value) => !theirs.values?.includes(value));
    if (refused.length > 0) say('breaks', `${at}: the service does not take ${list(refused)}`);
    const unknown = ours.values ? theirs.values.filter((value) => !ours.values?.includes(value)) : [];
    if (unknown.length > 0) say('theirs', `${at}: ${list(unknown)} cannot be sent by us`);
  }
  compareBound('at least', ours.min, theirs.min, (a, b) => a < b, at, say);
  compareBound('at most', ours.max, theirs.max, (a, b) => a > b, at, say);
}

/** A wider bound of ours lets through what the service will answer with 400, and says so; a narrower one keeps back what it would take. */
function compareBound(
  words: string,
  ours: number | null,
  theirs: number | null,
  isWider: (ours: number, theirs: number) => boolean,
  at: string,
  say: Say,
): void {
  if (ours === theirs || (ours === null && theirs === null)) return;
  if (ours === null) say('differs', `${at}: the service takes ${words} ${theirs}, we do not check it`);
  else if (theirs === null) say('ours', `${at}: we take ${words} ${ours}, the service names no such bound`);
  else
    say(
      isWider(ours, theirs) ? 'breaks' : 'differs',
      `${at}: we take ${words} ${ours}, the service ${words} ${theirs}`,
    );
}

import type { Shape } from './shape.ts';

/**
 * One difference between the client and the service. `breaks`: calls fail or responses cannot be read; `differs`:
 * some may; `ours`: the service does not know it; `theirs`: we do not.
 */
export interface Difference {
  kind: 'breaks' | 'differs' | 'ours' | 'theirs';
  endpoint: string;
  says: string;
}

/** Takes a difference of the endpoint that is being compared. */
export type Say = (kind: Difference['kind'], says: string) => void;

/** The path of a field below `at`. */
function field(at: string, name: string): string {
  return `${at}.${name}`;
}

function list(values: readonly unknown[]): string {
  return values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join(', ');
}

/** Compares what the client may send with what the service accepts. */
export function compareRequest(ours: Shape, theirs: Shape, at: string, say: Say): void {
  if (!compareTypes(ours, theirs, at, 'we may send', 'the service takes', say)) return;
  compareValues(ours, theirs, at, say);
  for (const [name, shape] of ours.properties) {
    const other = theirs.properties.get(name);
    if (other) compareRequest(shape, other, field(at, name), say);
    else if (theirs.isClosed) say('breaks', `${field(at, name)} is unknown to the service, which rejects it`);
    else if (theirs.properties.size > 0) say('ours', `${field(at, name)} is unknown to the service`);
  }
  if (ours.properties.size > 0) compareNames(ours, theirs, at, say);
  if (ours.items && theirs.items) compareRequest(ours.items, theirs.items, `${at}[]`, say);
}

/** Which of the service's fields we send. */
function compareNames(ours: Shape, theirs: Shape, at: string, say: Say): void {
  for (const name of theirs.properties.keys()) {
    const isRequired = theirs.required.has(name);
    const isKnown = ours.properties.has(name);
    if (!isKnown && !isRequired) say('theirs', `${field(at, name)} cannot be sent by poolwright`);
    if (isRequired && !ours.required.has(name))
      say('breaks', `${field(at, name)} is required, but poolwright may omit it`);
  }
}

/** Of what we send: lists of values and bounds. */
export function compareValues(ours: Shape, theirs: Shape, at: string, say: Say): void {
  if (theirs.values) {
    const refused = (ours.values ?? []).filter((value) => !theirs.values?.includes(value));
    if (refused.length > 0) say('breaks', `${at}: the service does not accept ${list(refused)}`);
    const unknown = ours.values ? theirs.values.filter((value) => !ours.values?.includes(value)) : [];
    if (unknown.length > 0) say('theirs', `${at}: ${list(unknown)} cannot be sent by poolwright`);
  }
  compareBound('at least', ours.min, theirs.min, (a, b) => a < b, at, say);
  compareBound('at most', ours.max, theirs.max, (a, b) => a > b, at, say);
}

/**
 * If our limit is wider, the service rejects such a value with 400 and a reason. If ours is narrower, we reject what
 * the service would accept.
 */
function compareBound(
  words: string,
  ours: number | null,
  theirs: number | null,
  isWider: (ours: number, theirs: number) => boolean,
  at: string,
  say: Say,
): void {
  if (ours === theirs || (ours === null && theirs === null)) return;
  if (ours === null) say('differs', `${at}: the service takes ${words} ${theirs}, poolwright does not check it`);
  else if (theirs === null) say('ours', `${at}: poolwright accepts ${words} ${ours}, the service has no such limit`);
  else
    say(
      isWider(ours, theirs) ? 'breaks' : 'differs',
      `${at}: poolwright accepts ${words} ${ours}, the service ${words} ${theirs}`,
    );
}

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

/** Says which types come that are not taken; returns whether it is worth going on. */
function compareTypes(come: Shape, taken: Shape, at: string, coming: string, taking: string, say: Say): boolean {
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

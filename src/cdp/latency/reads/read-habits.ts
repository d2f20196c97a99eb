import { createHash } from 'node:crypto';
import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../../message.ts';
import { functionsOf } from './recognised-reads.ts';

/** A read that followed a command, with names instead of object IDs. */
export interface Follower {
  readonly method: string;
  /** JSON. */
  readonly template: string;
  /** The name of the value in its response, if any. */
  readonly result: string | null;
  /**
   * Whether it is worth sending early: rises when the client sends it, falls when it does not; at 0 it is no longer
   * sent.
   */
  worth: number;
}

/** Marks a name in a template, so that it is never taken for an ID of the browser. */
const MARK = '\u0000';
const NEW_WORTH = 3;
const MAX_WORTH = 6;
const MAX_FOLLOWERS = 8;
/** Fields that contain values of the browser, which differ each time. */
const NAMED = new Set(['objectId', 'backendNodeId', 'contextId', 'executionContextId']);
/** Commands whose responses contain a value that later commands refer to, unless they return plain data. */
const MAKES_VALUE = new Set(['Runtime.callFunctionOn', 'Runtime.evaluate', 'DOM.describeNode', 'DOM.resolveNode']);
const MAX_KEYS = 500;

/** A value of the browser as text: an object's ID, `node <number>` or `world <number>`; null for any other field. */
export function tokenOf(field: string, value: unknown): string | null {
  if (!NAMED.has(field)) return null;
  if (field === 'objectId') return typeof value === 'string' ? value : null;
  return typeof value === 'number' ? `${field === 'backendNodeId' ? 'node' : 'world'} ${value}` : null;
}

/** How a command is identified: by itself, and by its position after the query that its action began with. */
export interface HabitKeys {
  readonly alone: string;
  readonly inAction: string;
}

/** Which reads the client sends after the response to which command. */
export class ReadHabits {
  readonly #followers = new Map<string, Follower[]>();
  readonly #maxFollowers: number;

  /** @param maxFollowers most reads after one command. Default: 8 */
  constructor(maxFollowers = MAX_FOLLOWERS) {
    this.#maxFollowers = maxFollowers;
  }

  /** @param root of the query that the action began with, see {@link ReadHabits.rootOf}; empty if there is none */
  static keysOf({ method, params }: CdpMessage, root: string): HabitKeys {
    const { returnByValue, functionDeclaration } = fieldsOf<Protocol.Runtime.CallFunctionOnRequest>(params);
    const alone = digest(`${method} ${returnByValue} ${[functionDeclaration, ...functionsOf(params)].join('\n')}`);
    return { alone, inAction: `${root} ${alone}` };
  }

  /** Equal for two queries that ask for the same thing in the same way. */
  static rootOf({ params }: CdpMessage): string {
    return digest(JSON.stringify(params ?? {}, (field, value) => (NAMED.has(field) ? null : value)));
  }

  /** The followers worth sending: those seen in the same position or, in a new position, anywhere. */
  followers({ alone, inAction }: HabitKeys): readonly Follower[] {
    const list = this.#followers.get(inAction) ?? this.#followers.get(alone) ?? [];
    return list.filter(({ worth }) => worth > 0);
  }

  /** The client has got its response to such a command, with or without followers. */
  meet({ inAction }: HabitKeys): void {
    this.#listOf(inAction);
  }

  /**
   * The client has sent this read after such a command. Returns it as a follower.
   * @param names of the known values, by {@link tokenOf}
   * @returns null when it refers to an unknown object
   */
  observe(keys: HabitKeys, { method = '', params }: CdpMessage, names: ReadonlyMap<string, string>): Follower | null {
    let isKnown = true;
    const template = JSON.stringify(params ?? {}, (field, value) => {
      const token = tokenOf(field, value);
      if (token === null) return value;
      const name = names.get(token);
      isKnown &&= name !== undefined;
      return `${MARK}${name}`;
    });
    if (!isKnown) return null;
    const result = makesValue({ method, params }) ? digest(`${method} ${template}`) : null;
    const follower = { method, template, result, worth: NEW_WORTH };
    for (const list of [this.#listOf(keys.alone), this.#listOf(keys.inAction)]) this.#add(list, follower);
    return follower;
  }

  /** The parameters of a follower; null if they contain a name without a value. */
  static fill({ template }: Pick<Follower, 'template'>, ids: ReadonlyMap<string, string>): object | null {
    let isKnown = true;
    const params = JSON.parse(template, (field, value) => {
      if (!NAMED.has(field) || typeof value !== 'string' || !value.startsWith(MARK)) return value;
      const token = ids.get(value.slice(MARK.length));
      isKnown &&= token !== undefined;
      return field === 'objectId' ? token : Number(token?.split(' ')[1]);
    });
    return isKnown ? params : null;
  }

  #listOf(key: string): Follower[] {
    const list = this.#followers.get(key) ?? [];
    // The newest at the end: the oldest is dropped first.
    this.#followers.delete(key);
    this.#followers.set(key, list);
    const [oldest] = this.#followers.keys();
    if (oldest !== undefined && this.#followers.size > MAX_KEYS) this.#followers.delete(oldest);
    return list;
  }

  #add(list: Follower[], follower: Follower): void {
    const known = list.find((one) => isSame(one, follower));
    if (known) {
      known.worth = Math.min(MAX_WORTH, known.worth + 1);
      return;
    }
    if (list.length >= this.#maxFollowers) list.splice(0);
    list.push({ ...follower });
  }
}

/** Whether the response to a command contains a value that later commands refer to. */
export function makesValue({ method = '', params }: CdpMessage): boolean {
  const { returnByValue } = fieldsOf<Protocol.Runtime.CallFunctionOnRequest>(params);
  return MAKES_VALUE.has(method) && returnByValue !== true;
}

/** Whether two followers of one command are the same read. */
export function isSame(one: Follower, other: Follower): boolean {
  return one.method === other.method && one.template === other.template;
}

function digest(text: string): string {
  return createHash('sha1').update(text).digest('base64');
}

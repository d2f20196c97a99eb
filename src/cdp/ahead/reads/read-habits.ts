import { createHash } from 'node:crypto';
import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';
import { functionsOf } from './recognised-reads.ts';

/** A read that followed a command, with names in the place of its objects' IDs. */
export interface Follower {
  readonly method: string;
  /** JSON. */
  readonly template: string;
  /** It makes an object, which has this name. */
  readonly result: string | null;
  /** How much it is worth to send it: up when it is asked for, down when it is not; at 0 it stays. */
  worth: number;
}

/** What an ID in a template is put in, so that it is no ID of the browser's. */
const MARK = '\u0000';
const NEW_WORTH = 3;
const MAX_WORTH = 6;
const MAX_FOLLOWERS = 8;
const MAX_KEYS = 500;

/** What a command is known by: by itself, and in its place behind the query that its action began with. */
export interface HabitKeys {
  readonly alone: string;
  readonly inPlace: string;
}

/** Which reads the client sends after which command, when it has the answer to that. */
export class ReadHabits {
  readonly #followers = new Map<string, Follower[]>();

  /** @param root of the query that the action began with, see {@link ReadHabits.rootOf}; empty: of none */
  static keysOf({ method, params }: CdpMessage, root: string): HabitKeys {
    const { returnByValue } = fieldsOf<Protocol.Runtime.CallFunctionOnRequest>(params);
    const alone = digest(`${method} ${returnByValue} ${functionsOf(params).join('\n')}`);
    return { alone, inPlace: `${root} ${alone}` };
  }

  /** What two queries have in common that ask for the same in the same way. */
  static rootOf({ params }: CdpMessage): string {
    return digest(JSON.stringify(params ?? {}, (field, value) => (field === 'objectId' ? null : value)));
  }

  /** What is worth being sent: what followed in the same place, or, in a new one, what followed anywhere. */
  followers({ alone, inPlace }: HabitKeys): readonly Follower[] {
    const list = this.#followers.get(inPlace) ?? this.#followers.get(alone) ?? [];
    return list.filter(({ worth }) => worth > 0);
  }

  /** The client has got its answer to such a command, whatever follows. */
  meet({ inPlace }: HabitKeys): void {
    this.#listOf(inPlace);
  }

  /**
   * The client has sent this read after such a command. Returns the follower that it is.
   * @param names of the objects known by then, by ID
   * @returns null when it is about an object that nobody knows
   */
  observe(keys: HabitKeys, { method = '', params }: CdpMessage, names: ReadonlyMap<string, string>): Follower | null {
    let isKnown = true;
    const template = JSON.stringify(params ?? {}, (field, value) => {
      if (field !== 'objectId') return value;
      const name = names.get(value);
      isKnown &&= name !== undefined;
      return `${MARK}${name}`;
    });
    if (!isKnown) return null;
    const { returnByValue } = fieldsOf<Protocol.Runtime.CallFunctionOnRequest>(params);
    const makesObject = method === 'Runtime.callFunctionOn' && returnByValue !== true;
    const follower = { method, template, result: makesObject ? digest(template) : null, worth: NEW_WORTH };
    for (const list of [this.#listOf(keys.alone), this.#listOf(keys.inPlace)]) add(list, follower);
    return follower;
  }

  /** The parameters of a follower; null where it is about an object that has no such name. */
  static fill({ template }: Follower, ids: ReadonlyMap<string, string>): object | null {
    let isKnown = true;
    const params = JSON.parse(template, (field, value) => {
      if (field !== 'objectId' || typeof value !== 'string' || !value.startsWith(MARK)) return value;
      const id = ids.get(value.slice(MARK.length));
      isKnown &&= id !== undefined;
      return id;
    });
    return isKnown ? params : null;
  }

  #listOf(key: string): Follower[] {
    const list = this.#followers.get(key) ?? [];
    // The newest at the end: the oldest goes first.
    this.#followers.delete(key);
    this.#followers.set(key, list);
    const [oldest] = this.#followers.keys();
    if (oldest !== undefined && this.#followers.size > MAX_KEYS) this.#followers.delete(oldest);
    return list;
  }
}

function add(list: Follower[], follower: Follower): void {
  const known = list.find((one) => isSame(one, follower));
  if (known) {
    known.worth = Math.min(MAX_WORTH, known.worth + 1);
    return;
  }
  if (list.length >= MAX_FOLLOWERS) list.splice(0);
  list.push({ ...follower });
}

/** Whether two followers of one command are the same read. */
export function isSame(one: Follower, other: Follower): boolean {
  return one.method === other.method && one.template === other.template;
}

function digest(text: string): string {
  return createHash('sha1').update(text).digest('base64');
}

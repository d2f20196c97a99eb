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
const NEW_WORTH = 2;
const MAX_WORTH = 4;
const MAX_FOLLOWERS = 8;
const MAX_HEADS = 200;

/** Which reads the client sends after which command, when it has the answer to that. */
export class ReadHabits {
  readonly #followers = new Map<string, Follower[]>();

  /** What says that two commands are followed by the same reads. */
  static keyOf({ method, params }: CdpMessage): string {
    const { returnByValue } = fieldsOf<Protocol.Runtime.CallFunctionOnRequest>(params);
    return `${method} ${returnByValue} ${functionsOf(params).join('\n')}`;
  }

  followers(key: string): readonly Follower[] {
    return this.#followers.get(key) ?? [];
  }

  /**
   * The client has sent this read after a command with that key. Returns the follower that it is.
   * @param names of the objects known by then, by ID
   * @returns null when it is about an object that nobody knows
   */
  observe(key: string, { method = '', params }: CdpMessage, names: ReadonlyMap<string, string>): Follower | null {
    let isKnown = true;
    const template = JSON.stringify(params ?? {}, (field, value) => {
      if (field !== 'objectId') return value;
      const name = names.get(value);
      isKnown &&= name !== undefined;
      return `${MARK}${name}`;
    });
    if (!isKnown) return null;
    const list = this.#followers.get(key) ?? [];
    // The newest at the end: the oldest goes first.
    this.#followers.delete(key);
    this.#followers.set(key, list);
    const [oldest] = this.#followers.keys();
    if (oldest !== undefined && this.#followers.size > MAX_HEADS) this.#followers.delete(oldest);
    const known = list.find((one) => one.method === method && one.template === template);
    if (known) {
      known.worth = Math.min(MAX_WORTH, known.worth + 1);
      return known;
    }
    if (list.length >= MAX_FOLLOWERS) list.splice(0);
    const { returnByValue } = fieldsOf<Protocol.Runtime.CallFunctionOnRequest>(params);
    const makesObject = method === 'Runtime.callFunctionOn' && returnByValue !== true;
    const result = makesObject ? `result ${template.length} ${list.length}` : null;
    const follower = { method, template, result, worth: NEW_WORTH };
    list.push(follower);
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
}

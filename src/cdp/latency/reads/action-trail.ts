import type { CdpMessage } from '../../message.ts';
import type { World } from '../../model/session.ts';
import type { Follower, HabitKeys } from './read-habits.ts';
import { SentFollowers } from './sent-followers.ts';

/** A command of the client and the reads that have followed it so far. */
export class ActionTrail {
  readonly keys: HabitKeys;
  readonly world: World;
  readonly #names = new Map<string, string>();
  /** Names of the results that the client waits for, by command ID. */
  readonly #results = new Map<number, string>();
  /** Followers that were sent early. */
  readonly sent = new SentFollowers();

  /** @param known further named objects, by name */
  constructor(head: CdpMessage, keys: HabitKeys, world: World, known: ReadonlyMap<string, string>) {
    this.keys = keys;
    this.world = world;
    let count = 0;
    JSON.stringify(head.params, (field, value) => {
      if (field === 'objectId') this.#name(value, `head ${count++}`);
      return value;
    });
    for (const [name, id] of known) this.#name(id, name);
    if (head.id !== undefined) this.#results.set(head.id, 'head');
  }

  get names(): ReadonlyMap<string, string> {
    return this.#names;
  }

  /** IDs by name. */
  ids(): Map<string, string> {
    return new Map([...this.#names].map(([id, name]) => [name, id]));
  }

  /** The client sends a follower itself. @param id of its command */
  asked(follower: Follower, id: number | undefined): void {
    this.sent.asked(follower);
    if (id !== undefined && follower.result !== null) this.#results.set(id, follower.result);
  }

  /** The client gets a response. Returns whether it contains an object that the client requested here. */
  responded(id: number, objectId: unknown): boolean {
    const name = this.#results.get(id);
    this.#results.delete(id);
    if (name === undefined || typeof objectId !== 'string') return false;
    this.#name(objectId, name);
    return true;
  }

  #name(id: unknown, name: string): void {
    if (typeof id === 'string' && !this.#names.has(id)) this.#names.set(id, name);
  }
}

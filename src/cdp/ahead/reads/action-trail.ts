import type { CdpMessage } from '../../transport/message.ts';
import type { UtilityWorld } from '../utility-worlds.ts';
import { type Follower, type HabitKeys, isSame } from './read-habits.ts';

/** A command of the client and the reads that follow it, as far as they have. */
export class ActionTrail {
  readonly keys: HabitKeys;
  readonly world: UtilityWorld;
  readonly #names = new Map<string, string>();
  /** Names of the results that the client waits for, by the ID of its command. */
  readonly #results = new Map<number, string>();
  readonly #sent = new Set<Follower>();
  readonly #asked: Follower[] = [];

  /** @param known further objects that have a name, by that */
  constructor(head: CdpMessage, keys: HabitKeys, world: UtilityWorld, known: ReadonlyMap<string, string>) {
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

  /** A follower was sent ahead. */
  sent(follower: Follower): void {
    this.#sent.add(follower);
  }

  /** The client sends one itself. @param id of its command */
  asked(follower: Follower, id: number | undefined): void {
    this.#asked.push(follower);
    if (id !== undefined && follower.result !== null) this.#results.set(id, follower.result);
  }

  /** The client gets an answer. Returns whether there is an object in it that it asked for here. */
  answered(id: number, objectId: unknown): boolean {
    const name = this.#results.get(id);
    this.#results.delete(id);
    if (name === undefined || typeof objectId !== 'string') return false;
    this.#name(objectId, name);
    return true;
  }

  /** It is over: what was sent in vain is worth less. */
  end(): void {
    for (const follower of this.#sent) {
      if (!this.#asked.some((asked) => isSame(asked, follower))) follower.worth -= 1;
    }
  }

  #name(id: unknown, name: string): void {
    if (typeof id === 'string' && !this.#names.has(id)) this.#names.set(id, name);
  }
}

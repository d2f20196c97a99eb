import type { CdpMessage } from '../../transport/message.ts';
import type { UtilityWorld } from '../utility-worlds.ts';
import { type Follower, ReadHabits } from './read-habits.ts';

/** A command of the client and the reads that follow it, as far as they have. */
export class ActionTrail {
  readonly key: string;
  readonly world: UtilityWorld;
  readonly #names = new Map<string, string>();
  /** Names of the results that the client waits for, by the ID of its command. */
  readonly #results = new Map<number, string>();
  readonly #sent = new Set<Follower>();
  readonly #asked = new Set<Follower>();

  /** @param known further objects that have a name, by that */
  constructor(head: CdpMessage, world: UtilityWorld, known: ReadonlyMap<string, string>) {
    this.key = ReadHabits.keyOf(head);
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
    this.#asked.add(follower);
    if (id !== undefined && follower.result !== null) this.#results.set(id, follower.result);
  }

  /** The client gets an answer with an object in it. */
  answered(id: number, objectId: unknown): void {
    const name = this.#results.get(id);
    this.#results.delete(id);
    if (name !== undefined && typeof objectId === 'string') this.#name(objectId, name);
  }

  /** It is over: what was sent in vain is worth less. */
  end(): void {
    for (const follower of this.#sent) if (!this.#asked.has(follower)) follower.worth -= 1;
  }

  #name(id: unknown, name: string): void {
    if (typeof id === 'string' && !this.#names.has(id)) this.#names.set(id, name);
  }
}

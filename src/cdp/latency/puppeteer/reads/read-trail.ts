import { type CdpMessage, fieldsOf } from '../../../message.ts';
import { objectOf, referencedObjects } from '../../../model/remote-objects.ts';
import type { World } from '../../../model/session.ts';
import { type Follower, type HabitKeys, isSame, makesValue, tokenOf } from '../../reads/read-habits.ts';
import { SentFollowers } from '../../reads/sent-followers.ts';
import { belongsTo, type ReadKind } from './recognised-commands.ts';

/** A command of Puppeteer's, and what it has sent since in the same call. */
export class ReadTrail {
  readonly sessionId: string;
  readonly keys: HabitKeys;
  /** Names of the browser's values, see {@link tokenOf}. */
  readonly names = new Map<string, string>();
  /** The same by name, including values that are only predicted. */
  readonly values = new Map<string, string>();
  /** Followers that were sent early. */
  readonly sent = new SentFollowers();
  /** What Puppeteer is going to send, as far as it is not on its way. */
  todo: readonly Follower[] = [];
  /** What Puppeteer's latest command reads. */
  latest: ReadKind | 'other';
  /** The name of the value that this command results in, or else of the one that it is about. */
  subject: string;
  /** Names of the values in the responses that Puppeteer waits for, by command ID. */
  readonly #results = new Map<number, string>();
  /** The number of objects on their way, in each world. */
  readonly #coming = new Map<World, number>();
  /** The first command, if it creates an object. */
  #head: { readonly id: number | undefined; readonly world: World } | null = null;

  /**
   * @param kind what the first command reads
   * @param known further values, by name
   */
  constructor(
    head: CdpMessage,
    kind: ReadKind | 'other',
    sessionId: string,
    keys: HabitKeys,
    known: Record<string, string>,
  ) {
    this.latest = kind;
    this.subject = makesValue(head) ? 'head' : 'head 0';
    this.sessionId = sessionId;
    this.keys = keys;
    for (const [name, token] of Object.entries(known)) this.name(token, name);
    let count = 0;
    JSON.stringify(head.params, (field, value) => {
      const token = tokenOf(field, value);
      // Its world has a name: the first value without one is what the command is about.
      if (token !== null && !this.names.has(token)) this.name(token, `head ${count++}`);
      return value;
    });
    if (head.id !== undefined) this.#results.set(head.id, 'head');
  }

  /**
   * A command is on its way that creates an object. Returns how many others there are.
   * @param head the command, if it is the first one of the trail
   */
  expect(world: World, head?: CdpMessage): number {
    const others = this.#coming.get(world) ?? 0;
    this.#coming.set(world, others + 1);
    if (head) this.#head = { id: head.id, world };
    return others;
  }

  /** The response to such a command has arrived. */
  arrived(world: World): void {
    this.#coming.set(world, (this.#coming.get(world) ?? 1) - 1);
  }

  /** The first name that a value gets stays: an object described twice is one node. */
  name(token: string, name: string): void {
    if (!this.names.has(token)) this.names.set(token, name);
    this.values.set(name, token);
  }

  /** Whether a read belongs to the same call as what Puppeteer has sent so far. */
  includes(command: CdpMessage, kind: ReadKind): boolean {
    if (!belongsTo(kind, this.latest)) return false;
    const { backendNodeId } = fieldsOf<{ backendNodeId: number }>(command.params);
    const token = tokenOf('backendNodeId', backendNodeId) ?? referencedObjects(command)[0];
    // The size of the viewport is about no value.
    return kind === 'viewport' || (token !== undefined && this.values.get(this.subject) === token);
  }

  /** Puppeteer sends a follower itself. @param id of its command @param kind null for a part of the set-up */
  asked(follower: Follower, id: number | undefined, kind: ReadKind | null): void {
    if (kind) {
      this.latest = kind;
      this.subject = follower.result ?? this.subject;
    }
    this.sent.asked(follower);
    this.todo = this.todo.filter((next) => !isSame(next, follower));
    if (id !== undefined && follower.result !== null) this.#results.set(id, follower.result);
  }

  /** Puppeteer gets a response. */
  responded(id: number, message: CdpMessage): void {
    if (this.#head?.id === id) this.arrived(this.#head.world);
    const name = this.#results.get(id);
    const token = valueIn(message);
    if (this.#results.delete(id) && name !== undefined && token !== null) this.name(token, name);
  }
}

/** The object or node in a response, see {@link tokenOf}; null if there is none. */
export function valueIn(message: CdpMessage): string | null {
  const { node } = fieldsOf<{ node: object }>(message.result);
  const { backendNodeId } = fieldsOf<{ backendNodeId: number }>(node);
  return tokenOf('backendNodeId', backendNodeId) ?? tokenOf('objectId', objectOf(message).objectId);
}

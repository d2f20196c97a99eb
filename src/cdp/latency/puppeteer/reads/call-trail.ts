import { type CdpMessage, fieldsOf } from '../../../message.ts';
import { referencedObjects } from '../../../model/remote-objects.ts';
import type { World } from '../../../model/session.ts';
import { type Follower, type HabitKeys, isSame, makesValue, tokenOf } from '../../reads/read-habits.ts';
import { ReadTrail } from '../../reads/read-trail.ts';
import { belongsTo, type ReadKind } from './recognised-commands.ts';

/** A command of Puppeteer's, and what it has sent since in the same call. */
export class CallTrail extends ReadTrail {
  readonly sessionId: string;
  /** What Puppeteer is going to send, as far as it is not on its way. */
  todo: readonly Follower[] = [];
  /** What Puppeteer's latest command reads. */
  #latest: ReadKind | null;
  /** The name of the value that this command results in, or else of the one that it is about. */
  #subject: string;
  /** The number of objects on their way, in each world. */
  readonly #coming = new Map<World, number>();
  /** The first command, if it creates an object. */
  #head: { readonly id: number | undefined; readonly world: World } | null = null;

  /**
   * @param kind what the first command reads
   * @param known further values, by name: the first value without one is what the command is about
   */
  constructor(head: CdpMessage, kind: ReadKind | null, keys: HabitKeys, known: Record<string, string>) {
    super(head, keys, known);
    this.sessionId = head.sessionId ?? '';
    this.#latest = kind;
    this.#subject = makesValue(head) ? 'head' : 'head 0';
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

  /** Whether a read belongs to the same call as what Puppeteer has sent so far. */
  includes(command: CdpMessage, kind: ReadKind): boolean {
    if (!belongsTo(kind, this.#latest)) return false;
    const { backendNodeId } = fieldsOf<{ backendNodeId: number }>(command.params);
    const token = tokenOf('backendNodeId', backendNodeId) ?? referencedObjects(command)[0];
    // The size of the viewport is about no value.
    return kind === 'viewport' || (token !== undefined && this.values.get(this.#subject) === token);
  }

  /** @param kind null for a part of the set-up */
  override asked(follower: Follower, id: number | undefined, kind: ReadKind | null = null): void {
    super.asked(follower, id);
    if (kind) {
      this.#latest = kind;
      this.#subject = follower.result ?? this.#subject;
    }
    this.todo = this.todo.filter((next) => !isSame(next, follower));
  }

  override responded(id: number, message: CdpMessage): boolean {
    if (this.#head?.id === id) this.arrived(this.#head.world);
    return super.responded(id, message);
  }
}

import type { Protocol } from 'devtools-protocol';
import type { Savings } from '../../figures.ts';
import { type CdpMessage, fieldsOf } from '../../message.ts';
import { Attached, PerSession } from '../../model/per-session.ts';
import { objectOf, referencedObjects } from '../../model/remote-objects.ts';
import type { World } from '../../model/session.ts';
import type { Interceptor, InterceptorTransport } from '../../transport/interceptor.ts';
import { commandKey, PipelinedCommands } from '../pipelined-commands.ts';
import { ReadHabits } from './read-habits.ts';
import { ReadTrail, ReadTrails } from './read-trail.ts';
import { isRead } from './recognised-reads.ts';

/** Commands that change nothing in a document, so that earlier reads stay valid. */
const HARMLESS = /^(?:Network|Fetch|Log|Target|IO)\.|^Runtime\.releaseObject$|^Page\.screencastFrameAck$/;

/** What the client does in a session: the root of its current action, and the handles that it has got since. */
interface Action {
  root: string;
  readonly handles: Set<string>;
}

/**
 * Sends the reads of an action directly after the command that they follow, with the IDs that the objects will have:
 * each world numbers them sequentially. The client gets each response when it sends exactly that read. The reads that
 * follow a command are learned from the client. Only recognized reads in the client's isolated worlds are sent, and
 * none while an input event is pending: a read could overtake it.
 */
export class PipelinedReads implements Interceptor {
  readonly #transport: InterceptorTransport;
  readonly #sent: PipelinedCommands;
  readonly #habits = new ReadHabits();
  readonly #trails: ReadTrails<ReadTrail>;
  readonly #actions: PerSession<Action>;
  /** Objects by name: the one on which the client calls its functions (`utility`), and its last node (`node`). */
  readonly #known = new Attached<World, Map<string, string>>(() => new Map());

  constructor(transport: InterceptorTransport, savings: Savings) {
    this.#transport = transport;
    this.#sent = new PipelinedCommands(transport, savings);
    this.#trails = new ReadTrails(transport, savings, this.#sent, this.#habits);
    this.#actions = new PerSession(transport.model, () => ({ root: '', handles: new Set() }));
    transport.model.onWorldEnd((world) => {
      if (this.#trails.worlds.includes(world)) this.#trails.end(world.session.id);
    });
  }

  onCommand(command: CdpMessage): CdpMessage | null {
    if (!this.#trails.observe(command)) return command;
    const { id, method = '', sessionId } = command;
    if (HARMLESS.test(method)) return command;
    const trail = this.#trails.in(sessionId);
    if (trail && isRead(command)) {
      const follower = this.#habits.observe(trail.keys, command, trail.names);
      if (follower) trail.asked(follower, id);
      if (this.#sent.ask(commandKey(command), command)) return null;
      // What was sent before this command would be older than its response.
      this.#sent.drop((of) => of === sessionId);
      return command;
    }
    this.#trails.end(sessionId);
    const world = this.#worldOf(command);
    if (world) this.#begin(command, world);
    return command;
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    if (this.#trails.areOff) return message;
    if (message.id === undefined) this.#trails.onEvent(message);
    const passed = this.#sent.onMessage(message);
    const { sessionId } = message;
    const { objectId, subtype } = objectOf(message);
    if (sessionId === undefined || typeof objectId !== 'string' || passed?.id === undefined) return passed;
    if (this.#trails.in(sessionId)?.responded(passed.id, passed)) this.#actions.of(sessionId)?.handles.add(objectId);
    const world = subtype === 'node' ? this.#trails.worlds.ofObject(sessionId, objectId) : undefined;
    if (world) this.#known.of(world).set('node', objectId);
    return passed;
  }

  /** The world of a command that reads may follow. */
  #worldOf({ method, params, sessionId = '' }: CdpMessage): World | undefined {
    if (method !== 'Runtime.callFunctionOn' && method !== 'DOM.scrollIntoViewIfNeeded') return undefined;
    const { objectId } = fieldsOf<Protocol.Runtime.CallFunctionOnRequest>(params);
    const world = this.#trails.worlds.ofObject(sessionId, objectId);
    if (world && method === 'Runtime.callFunctionOn') this.#known.of(world).set('utility', String(objectId));
    return world;
  }

  #begin(command: CdpMessage, world: World): void {
    const trail = new ReadTrail(command, ReadHabits.keysOf(command, this.#rootOf(command)));
    for (const [name, objectId] of this.#known.of(world)) trail.name(objectId, name);
    const maySend = this.#trails.begin(world.session.id, trail);
    // After the command itself.
    if (maySend) queueMicrotask(() => this.#sendFollowers(command, trail, world));
  }

  #sendFollowers(command: CdpMessage, trail: ReadTrail, world: World): void {
    const sessionId = world.session.id;
    if (this.#trails.in(sessionId) !== trail) return;
    let coming = 0;
    const makes = (name: string) => {
      const objectId = this.#transport.model.objects.next(world, coming++);
      if (objectId !== null) trail.values.set(name, objectId);
    };
    const { returnByValue } = fieldsOf<Protocol.Runtime.CallFunctionOnRequest>(command.params);
    if (command.method === 'Runtime.callFunctionOn' && returnByValue !== true) makes('head');
    for (const follower of this.#habits.followers(trail.keys)) {
      const params = ReadHabits.fill(follower, trail.values);
      if (!params) continue;
      const { method, result } = follower;
      const read = { method, params, sessionId };
      this.#sent.send(commandKey(read), read);
      trail.sent(follower);
      if (result !== null) makes(result);
    }
  }

  /** The root of the action that a command belongs to: one that refers to none of its handles starts another action. */
  #rootOf(command: CdpMessage): string {
    const action = this.#actions.of(command.sessionId);
    if (!action || referencedObjects(command).some((objectId) => action.handles.has(objectId)))
      return action?.root ?? '';
    action.root = ReadHabits.rootOf(command);
    action.handles.clear();
    return action.root;
  }
}

import type { Protocol } from 'devtools-protocol';
import { SessionMap } from '../../model/per-session.ts';
import type { World } from '../../model/session.ts';
import type { Interceptor, InterceptorTransport } from '../../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';
import { commandKey, PipelinedCommands } from '../pipelined-commands.ts';
import { referencedObjects } from '../referenced-objects.ts';
import type { Savings } from '../savings.ts';
import { UtilityWorlds } from '../utility-worlds.ts';
import { ActionTrail } from './action-trail.ts';
import { ReadHabits } from './read-habits.ts';
import { isRead } from './recognised-reads.ts';

/** Commands that change nothing in a document, so that earlier reads stay valid. */
const HARMLESS = /^(?:Network|Fetch|Log|Target|IO)\.|^Runtime\.releaseObject$|^Page\.screencastFrameAck$/;

/**
 * How long a read stays valid after it arrives, in ms. A client sends its next read as soon as it gets the response
 * before it; one that waits longer needs the current state.
 */
const FRESH_MS = 100;

/**
 * Events after which earlier reads of a document may be invalid. When frames come or go, a barrier from before that is
 * not a barrier any more.
 */
const INVALIDATING_EVENTS = /^(?:Page\.javascriptDialogOpening|Debugger\.paused|Inspector\.targetCrashed|Target\..*)$/;

/** Objects in one of the client's worlds. */
interface Objects {
  /** The prefix of their IDs, once there is one. */
  prefix?: string;
  /** The number of the last one. */
  last: number;
  /** The object on which the client calls its functions. */
  utility?: string;
  /** The last node that the client got. */
  node?: string;
}

/**
 * Sends the reads of an action directly after the command that they follow, with the IDs that the objects will have:
 * each world numbers them sequentially. The client gets each response when it sends exactly that read. The reads that
 * follow a command are learned from the client. Only recognized reads in the client's isolated worlds are sent, and
 * none while an input event is pending: a read could overtake it.
 */
export class PipelinedReads implements Interceptor {
  readonly #savings: Savings;
  readonly #sent: PipelinedCommands;
  readonly #worlds: UtilityWorlds;
  readonly #habits = new ReadHabits();
  readonly #trails: SessionMap<string, ActionTrail>;
  readonly #objects = new WeakMap<World, Objects>();
  /** The root of the client's current action in a session, and the handles that it has got since. */
  readonly #actions: SessionMap<string, { root: string; handles: Set<string> }>;
  /** Input events without a response yet. */
  readonly #inputs: SessionMap<number | undefined, true>;

  constructor(transport: InterceptorTransport, savings: Savings) {
    this.#savings = savings;
    this.#sent = new PipelinedCommands(transport, savings, {
      isUsable: isResult,
      onUnused: (answer) => this.#release(answer),
      freshMs: FRESH_MS,
    });
    this.#trails = new SessionMap(transport.model);
    this.#actions = new SessionMap(transport.model);
    this.#inputs = new SessionMap(transport.model);
    this.#worlds = new UtilityWorlds(transport.model);
    transport.model.onWorldEnd((world) => {
      if (this.#worlds.includes(world)) this.#end(world.session.id);
    });
    transport.model.onSessionEnd(({ id }) => this.#end(id));
  }

  onCommand(command: CdpMessage): CdpMessage | null {
    const { id, method = '', sessionId } = command;
    if (sessionId === undefined || !this.#worlds.has(sessionId)) return command;
    this.#worlds.onCommand(command);
    // The client may know objects from events.
    for (const objectId of referencedObjects(command)) this.#count(sessionId, objectId);
    if (HARMLESS.test(method)) return command;
    const trail = this.#trails.get(sessionId);
    if (trail && isRead(command)) {
      const follower = this.#habits.observe(trail.keys, command, trail.names);
      if (follower) trail.asked(follower, id);
      return this.#sent.ask(commandKey(command), command) ? null : command;
    }
    this.#end(sessionId);
    if (method.startsWith('Input.')) this.#inputs.set(id, true, sessionId);
    const world = this.#worldOf(command);
    if (world) this.#begin(command, world);
    return command;
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    const { id, method = '', sessionId } = message;
    if (id === undefined) {
      if (sessionId !== undefined && INVALIDATING_EVENTS.test(method)) this.#end(sessionId);
      return message;
    }
    this.#inputs.delete(id);
    const { objectId, subtype } = resultOf(message);
    if (sessionId !== undefined && objectId !== undefined) this.#count(sessionId, objectId);
    const passed = this.#sent.onMessage(message);
    if (!passed || sessionId === undefined || passed.id === undefined) return passed;
    const isHandle = this.#trails.get(sessionId)?.answered(passed.id, objectId);
    if (isHandle && objectId !== undefined) this.#actions.get(sessionId)?.handles.add(objectId);
    const objects = subtype === 'node' && this.#referencedObjects(this.#worlds.ofObject(sessionId, objectId));
    if (objects) objects.node = String(objectId);
    return passed;
  }

  /** The world of a command that reads may follow. */
  #worldOf({ method, params, sessionId = '' }: CdpMessage): World | undefined {
    if (method !== 'Runtime.callFunctionOn' && method !== 'DOM.scrollIntoViewIfNeeded') return undefined;
    const { objectId } = fieldsOf<Protocol.Runtime.CallFunctionOnRequest>(params);
    const world = this.#worlds.ofObject(sessionId, objectId);
    const objects = method === 'Runtime.callFunctionOn' && this.#referencedObjects(world);
    if (objects) objects.utility = String(objectId);
    return world;
  }

  #begin(command: CdpMessage, world: World): void {
    const sessionId = world.session.id;
    const { utility, node, prefix } = this.#objects.get(world) ?? {};
    const known = new Map<string, string>();
    if (utility !== undefined) known.set('utility', utility);
    if (node !== undefined) known.set('node', node);
    const keys = ReadHabits.keysOf(command, this.#rootOf(command, sessionId));
    const trail = new ActionTrail(command, keys, world, known);
    this.#trails.set(sessionId, trail, sessionId);
    if (this.#worlds.isWatched(sessionId)) return;
    if (!this.#savings.isFar || this.#inputs.size > 0 || prefix === undefined) return;
    // After the command itself.
    queueMicrotask(() => this.#sendFollowers(command, trail));
  }

  #sendFollowers(command: CdpMessage, trail: ActionTrail): void {
    const sessionId = trail.world.session.id;
    if (this.#trails.get(sessionId) !== trail) return;
    const ids = trail.ids();
    const { prefix, last: latest = 0 } = this.#objects.get(trail.world) ?? {};
    let last = latest;
    const makes = (name: string) => ids.set(name, `${prefix}.${++last}`);
    const { returnByValue } = fieldsOf<Protocol.Runtime.CallFunctionOnRequest>(command.params);
    if (command.method === 'Runtime.callFunctionOn' && returnByValue !== true) makes('head');
    for (const follower of this.#habits.followers(trail.keys)) {
      const params = ReadHabits.fill(follower, ids);
      if (!params) continue;
      const { method, result } = follower;
      const read = { method, params, sessionId };
      this.#sent.send(commandKey(read), read);
      trail.sent(follower);
      if (result !== null) makes(result);
    }
  }

  /**
   * The root of the action that a command belongs to: a command that refers to none of its handles starts another
   * action.
   */
  #rootOf(command: CdpMessage, sessionId: string): string {
    const action = this.#actions.get(sessionId);
    if (action && referencedObjects(command).some((objectId) => action.handles.has(objectId))) return action.root;
    const root = ReadHabits.rootOf(command);
    this.#actions.set(sessionId, { root, handles: new Set() }, sessionId);
    return root;
  }

  /** Reads in a session are no longer valid. */
  #end(sessionId: string): void {
    const trail = this.#trails.get(sessionId);
    if (trail) {
      trail.end();
      this.#habits.meet(trail.keys);
    }
    this.#trails.delete(sessionId);
    this.#sent.drop((of) => of === sessionId);
  }

  /** The browser has created this object. */
  #count(sessionId: string, objectId: string): void {
    const objects = this.#referencedObjects(this.#worlds.ofObject(sessionId, objectId));
    if (!objects) return;
    const end = objectId.lastIndexOf('.');
    objects.prefix = objectId.slice(0, end);
    objects.last = Math.max(objects.last, Number(objectId.slice(end + 1)));
  }

  #referencedObjects(world: World | undefined): Objects | undefined {
    if (!world) return undefined;
    const objects = this.#objects.get(world) ?? { last: 0 };
    this.#objects.set(world, objects);
    return objects;
  }

  #release(answer: CdpMessage): void {
    const { sessionId } = answer;
    const { objectId } = resultOf(answer);
    if (objectId === undefined || sessionId === undefined || !this.#worlds.has(sessionId)) return;
    this.#sent.post({ method: 'Runtime.releaseObject', params: { objectId }, sessionId });
  }
}

function resultOf({ result }: CdpMessage): { objectId?: string; subtype?: unknown } {
  const { result: value } = fieldsOf<Protocol.Runtime.CallFunctionOnResponse>(result);
  const { objectId, subtype } = fieldsOf<Protocol.Runtime.RemoteObject>(value);
  return typeof objectId === 'string' ? { objectId, subtype } : {};
}

function isResult({ result }: CdpMessage): boolean {
  return fieldsOf<Protocol.Runtime.CallFunctionOnResponse>(result).exceptionDetails === undefined;
}

import type { Protocol } from 'devtools-protocol';
import { SessionMap } from '../../model/per-session.ts';
import type { Interceptor, InterceptorLink } from '../../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';
import { objectsOf } from '../objects-of.ts';
import type { Savings } from '../savings.ts';
import { commandKey, SentAhead } from '../sent-ahead.ts';
import { type UtilityWorld, UtilityWorlds } from '../utility-worlds.ts';
import { ActionTrail } from './action-trail.ts';
import { ReadHabits } from './read-habits.ts';
import { isRead } from './recognised-reads.ts';

/** Commands that change nothing in a document, so that what was read before is as good as it was. */
const HARMLESS = /^(?:Network|Fetch|Log|Target|IO)\.|^Runtime\.releaseObject$|^Page\.screencastFrameAck$/;

/**
 * How long after it came a read may be used, in ms. A client asks for it in the same breath in which it gets the answer
 * before it; one that takes its time wants to know how things are then.
 */
const FRESH_MS = 100;

/** Objects that the client works with in one world. */
interface Handles {
  /** What it calls its functions on. */
  utility?: string;
  /** The last node that it got. */
  node?: string;
}

/**
 * Sends the reads of an action right behind the command that they follow: with the IDs that the objects will have, which
 * are counted up by one in each world. The client gets each answer when it asks for exactly that. Which reads follow what
 * is learned from the client; only what is recognised as a read, in a world of the client's own, is sent, and nothing while
 * an input event is on its way: a read could overtake it.
 */
export class ReadsAhead implements Interceptor {
  readonly #savings: Savings;
  readonly #sent: SentAhead;
  readonly #worlds: UtilityWorlds;
  readonly #habits = new ReadHabits();
  readonly #trails: SessionMap<string, ActionTrail>;
  readonly #handles = new WeakMap<UtilityWorld, Handles>();
  /** What the client's present action in a session began with, and the handles that it has got since. */
  readonly #actions: SessionMap<string, { root: string; handles: Set<string> }>;
  /** Input events that the browser has not answered. */
  readonly #inputs: SessionMap<number | undefined, true>;

  constructor(link: InterceptorLink, savings: Savings) {
    this.#savings = savings;
    this.#sent = new SentAhead(link, savings, {
      isUsable: isResult,
      onUnused: (answer) => this.#release(answer),
      freshMs: FRESH_MS,
    });
    this.#trails = new SessionMap(link.model);
    this.#actions = new SessionMap(link.model);
    this.#inputs = new SessionMap(link.model);
    this.#worlds = new UtilityWorlds(link.model, {
      onUpheaval: (sessionId) => this.#end(sessionId),
      onEnd: (sessionId) => this.#end(sessionId),
    });
  }

  onCommand(command: CdpMessage): CdpMessage | null {
    const { id, method = '', sessionId } = command;
    if (sessionId === undefined || !this.#worlds.has(sessionId)) return command;
    this.#worlds.onCommand(command);
    // The client may know of objects whose coming it was only told of.
    for (const objectId of objectsOf(command)) this.#worlds.sawObject(sessionId, objectId);
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
    const { id, sessionId } = message;
    if (id === undefined) {
      this.#worlds.onEvent(message);
      return message;
    }
    this.#inputs.delete(id);
    const { objectId, subtype } = resultOf(message);
    if (sessionId !== undefined && objectId !== undefined) this.#worlds.sawObject(sessionId, objectId);
    const passed = this.#sent.onMessage(message);
    if (!passed || sessionId === undefined || passed.id === undefined) return passed;
    const isHandle = this.#trails.get(sessionId)?.answered(passed.id, objectId);
    if (isHandle && objectId !== undefined) this.#actions.get(sessionId)?.handles.add(objectId);
    if (subtype === 'node') this.#note(this.#worlds.ofObject(sessionId, objectId), { node: String(objectId) });
    return passed;
  }

  /** The world in which a command does something that reads may follow. */
  #worldOf({ method, params, sessionId = '' }: CdpMessage): UtilityWorld | undefined {
    if (method !== 'Runtime.callFunctionOn' && method !== 'DOM.scrollIntoViewIfNeeded') return undefined;
    const { objectId } = fieldsOf<Protocol.Runtime.CallFunctionOnRequest>(params);
    const world = this.#worlds.ofObject(sessionId, objectId);
    if (method === 'Runtime.callFunctionOn') this.#note(world, { utility: String(objectId) });
    return world;
  }

  #begin(command: CdpMessage, world: UtilityWorld): void {
    const { sessionId } = world;
    const { utility, node } = this.#handles.get(world) ?? {};
    const known = new Map<string, string>();
    if (utility !== undefined) known.set('utility', utility);
    if (node !== undefined) known.set('node', node);
    const keys = ReadHabits.keysOf(command, this.#rootOf(command, sessionId));
    const trail = new ActionTrail(command, keys, world, known);
    this.#trails.set(sessionId, trail, sessionId);
    if (this.#worlds.isWatched(sessionId)) return;
    if (!this.#savings.isFar || this.#inputs.size > 0 || world.prefix === undefined) return;
    // Behind the command itself.
    queueMicrotask(() => this.#sendFollowers(command, trail));
  }

  #sendFollowers(command: CdpMessage, trail: ActionTrail): void {
    const { sessionId, prefix } = trail.world;
    if (this.#trails.get(sessionId) !== trail) return;
    const ids = trail.ids();
    let { last } = trail.world;
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

  /** What the action began with that a command belongs to: one that is about none of its handles begins another. */
  #rootOf(command: CdpMessage, sessionId: string): string {
    const action = this.#actions.get(sessionId);
    if (action && objectsOf(command).some((objectId) => action.handles.has(objectId))) return action.root;
    const root = ReadHabits.rootOf(command);
    this.#actions.set(sessionId, { root, handles: new Set() }, sessionId);
    return root;
  }

  /** What was read in a session is not to be used any more. */
  #end(sessionId: string): void {
    const trail = this.#trails.get(sessionId);
    if (trail) {
      trail.end();
      this.#habits.meet(trail.keys);
    }
    this.#trails.delete(sessionId);
    this.#sent.drop((of) => of === sessionId);
  }

  #note(world: UtilityWorld | undefined, handles: Handles): void {
    if (world) this.#handles.set(world, { ...this.#handles.get(world), ...handles });
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

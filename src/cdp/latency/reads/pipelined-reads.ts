import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../../message.ts';
import { Attached, PerSession } from '../../model/per-session.ts';
import { objectOf, referencedObjects } from '../../model/remote-objects.ts';
import type { World } from '../../model/session.ts';
import type { Interceptor, InterceptorTransport } from '../../transport/interceptor.ts';
import { commandKey, PipelinedCommands } from '../pipelined-commands.ts';
import type { Savings } from '../savings.ts';
import { UtilityWorlds } from '../utility-worlds.ts';
import { type Follower, type HabitKeys, ReadHabits } from './read-habits.ts';
import { isRead } from './recognised-reads.ts';
import { SentFollowers } from './sent-followers.ts';

/** A command of the client and the reads that have followed it so far. */
class ActionTrail {
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

/** Commands that change nothing in a document, so that earlier reads stay valid. */
const HARMLESS = /^(?:Network|Fetch|Log|Target|IO)\.|^Runtime\.releaseObject$|^Page\.screencastFrameAck$/;

/**
 * Events after which earlier reads of a document may be invalid. When frames come or go, a barrier from before that is
 * not a barrier any more.
 */
const INVALIDATING_EVENTS = /^(?:Page\.javascriptDialogOpening|Debugger\.paused|Inspector\.targetCrashed|Target\..*)$/;

/** What the client is doing in a session. */
interface SessionState {
  trail?: ActionTrail | undefined;
  /** The root of its current action, and the handles that it has got since. */
  action?: { root: string; handles: Set<string> };
}

/**
 * Sends the reads of an action directly after the command that they follow, with the IDs that the objects will have:
 * each world numbers them sequentially. The client gets each response when it sends exactly that read. The reads that
 * follow a command are learned from the client. Only recognized reads in the client's isolated worlds are sent, and
 * none while an input event is pending: a read could overtake it.
 */
export class PipelinedReads implements Interceptor {
  readonly #transport: InterceptorTransport;
  readonly #savings: Savings;
  readonly #sent: PipelinedCommands;
  readonly #worlds: UtilityWorlds;
  readonly #habits = new ReadHabits();
  readonly #sessions: PerSession<SessionState>;
  /** Objects by name: the one on which the client calls its functions (`utility`), and its last node (`node`). */
  readonly #known = new Attached<World, Map<string, string>>(() => new Map());

  constructor(transport: InterceptorTransport, savings: Savings) {
    this.#transport = transport;
    this.#savings = savings;
    this.#sent = new PipelinedCommands(transport, savings);
    this.#sessions = new PerSession(transport.model, () => ({}));
    this.#worlds = new UtilityWorlds(transport.model);
    transport.model.onWorldEnd((world) => {
      if (this.#worlds.includes(world)) this.#end(world.session.id);
    });
  }

  onCommand(command: CdpMessage): CdpMessage | null {
    if (this.#isOff) return command;
    const { id, method = '', sessionId } = command;
    if (sessionId === undefined || !this.#worlds.has(sessionId)) return command;
    this.#worlds.onCommand(command);
    if (HARMLESS.test(method)) return command;
    const trail = this.#sessions.of(sessionId)?.trail;
    if (trail && isRead(command)) {
      const follower = this.#habits.observe(trail.keys, command, trail.names);
      if (follower) trail.asked(follower, id);
      if (this.#sent.ask(commandKey(command), command)) return null;
      // What was sent before this command would be older than its response.
      this.#sent.drop((of) => of === sessionId);
      return command;
    }
    this.#end(sessionId);
    const world = this.#worldOf(command);
    if (world) this.#begin(command, world);
    return command;
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    if (this.#isOff) return message;
    const { id, method = '', sessionId } = message;
    if (id === undefined) {
      if (sessionId !== undefined && INVALIDATING_EVENTS.test(method)) this.#end(sessionId);
      return message;
    }
    const { objectId, subtype } = objectOf(message);
    const passed = this.#sent.onMessage(message);
    if (sessionId === undefined || typeof objectId !== 'string' || passed?.id === undefined) return passed;
    const { trail, action } = this.#sessions.of(sessionId) ?? {};
    if (trail?.responded(passed.id, objectId)) action?.handles.add(objectId);
    const world = subtype === 'node' ? this.#worlds.ofObject(sessionId, objectId) : undefined;
    if (world) this.#known.of(world).set('node', objectId);
    return passed;
  }

  /** Nothing will be sent early, so that nothing has to be learned. */
  get #isOff(): boolean {
    return this.#savings.isNear && this.#sent.isIdle;
  }

  /** The world of a command that reads may follow. */
  #worldOf({ method, params, sessionId = '' }: CdpMessage): World | undefined {
    if (method !== 'Runtime.callFunctionOn' && method !== 'DOM.scrollIntoViewIfNeeded') return undefined;
    const { objectId } = fieldsOf<Protocol.Runtime.CallFunctionOnRequest>(params);
    const world = this.#worlds.ofObject(sessionId, objectId);
    if (world && method === 'Runtime.callFunctionOn') this.#known.of(world).set('utility', String(objectId));
    return world;
  }

  #begin(command: CdpMessage, world: World): void {
    const state = this.#sessions.of(world.session.id);
    if (!state) return;
    const keys = ReadHabits.keysOf(command, rootOf(command, state));
    const trail = new ActionTrail(command, keys, world, this.#known.of(world));
    state.trail = trail;
    if (!this.#savings.isFar || this.#worlds.isWatched(world.session.id)) return;
    if (this.#transport.isPending(({ method }) => method.startsWith('Input.'))) return;
    // After the command itself.
    queueMicrotask(() => this.#sendFollowers(command, trail));
  }

  #sendFollowers(command: CdpMessage, trail: ActionTrail): void {
    const sessionId = trail.world.session.id;
    if (this.#sessions.of(sessionId)?.trail !== trail) return;
    const ids = trail.ids();
    let coming = 0;
    const makes = (name: string) => {
      const objectId = this.#transport.model.objects.next(trail.world, coming++);
      if (objectId !== null) ids.set(name, objectId);
    };
    const { returnByValue } = fieldsOf<Protocol.Runtime.CallFunctionOnRequest>(command.params);
    if (command.method === 'Runtime.callFunctionOn' && returnByValue !== true) makes('head');
    for (const follower of this.#habits.followers(trail.keys)) {
      const params = ReadHabits.fill(follower, ids);
      if (!params) continue;
      const { method, result } = follower;
      const read = { method, params, sessionId };
      this.#sent.send(commandKey(read), read);
      trail.sent.add(follower);
      if (result !== null) makes(result);
    }
  }

  /** Reads in a session are no longer valid. */
  #end(sessionId: string): void {
    const state = this.#sessions.of(sessionId);
    if (state?.trail) {
      state.trail.sent.end();
      this.#habits.meet(state.trail.keys);
      state.trail = undefined;
    }
    this.#sent.drop((of) => of === sessionId);
  }
}

/** The root of the action that a command belongs to: one that refers to none of its handles starts another action. */
function rootOf(command: CdpMessage, state: SessionState): string {
  const { action } = state;
  if (action && referencedObjects(command).some((objectId) => action.handles.has(objectId))) return action.root;
  const root = ReadHabits.rootOf(command);
  state.action = { root, handles: new Set() };
  return root;
}

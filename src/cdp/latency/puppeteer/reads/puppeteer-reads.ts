import type { Protocol } from 'devtools-protocol';
import { PerSession } from '../../../model/per-session.ts';
import type { World } from '../../../model/session.ts';
import type { Interceptor, InterceptorTransport } from '../../../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../../../transport/message.ts';
import { commandKey, PipelinedCommands } from '../../pipelined-commands.ts';
import { type Follower, ReadHabits } from '../../reads/read-habits.ts';
import type { Savings } from '../../savings.ts';
import { UtilityWorlds } from '../../utility-worlds.ts';
import { ObjectCounts } from './object-counts.ts';
import { ReadTrail, valueIn } from './read-trail.ts';
import { isRead, isSetUp } from './recognised-commands.ts';

/** Commands that change nothing in a document, so that earlier reads stay valid. */
const HARMLESS = /^(?:Network|Fetch|Log|Target|IO|Emulation|Performance)\./;
/** Events after which earlier reads of a document may be invalid. */
const INVALIDATING_EVENTS = /^(?:Page\.javascriptDialogOpening|Debugger\.paused|Inspector\.targetCrashed|Target\..*)$/;
/** How long a read stays valid after it arrives, in ms: Puppeteer sends its next read at once. */
const FRESH_MS = 100;
/** A click on the element that a selector matches has nine reads; the first query in a document, seven. */
const MAX_FOLLOWERS = 16;

/** What Puppeteer is doing in a session. */
interface SessionState {
  trail?: ReadTrail | undefined;
  /** The query that the previous trail began with. */
  previous: string;
}

/**
 * Sends Puppeteer's reads directly after the command that they follow, as learned from Puppeteer: with the IDs that
 * objects will have, or as soon as the response arrives that contains them. Puppeteer gets each response when it sends
 * exactly that command. Only recognized commands are sent: reads, and what Puppeteer prepares in its own world of a new
 * document; and none while an input event is pending, because a read could overtake it.
 *
 * Objects are released without waiting: Puppeteer ignores the response.
 */
export class PuppeteerReads implements Interceptor {
  readonly #transport: InterceptorTransport;
  readonly #savings: Savings;
  readonly #reads: PipelinedCommands;
  readonly #setUps: PipelinedCommands;
  readonly #worlds: UtilityWorlds;
  readonly #objects: ObjectCounts;
  readonly #habits = new ReadHabits(MAX_FOLLOWERS);
  readonly #sessions: PerSession<SessionState>;

  constructor(transport: InterceptorTransport, savings: Savings) {
    this.#transport = transport;
    this.#savings = savings;
    this.#reads = new PipelinedCommands(transport, savings, { freshMs: FRESH_MS });
    this.#setUps = new PipelinedCommands(transport, savings);
    this.#worlds = new UtilityWorlds(transport.model);
    this.#objects = new ObjectCounts(transport.model);
    this.#sessions = new PerSession(transport.model, () => ({ previous: '' }));
    transport.model.onWorldEnd(({ session: { id } }) => {
      this.#end(id);
      this.#setUps.drop((of) => of === id);
    });
  }

  onCommand(command: CdpMessage): CdpMessage | null {
    if (this.#isOff) return command;
    const { id, method = '', sessionId } = command;
    const state = this.#worlds.has(sessionId) ? this.#sessions.of(sessionId) : undefined;
    if (sessionId === undefined || !state) return command;
    this.#worlds.onCommand(command);
    this.#objects.onCommand(command);
    if (method === 'Runtime.releaseObject') return this.#release(command);
    if (HARMLESS.test(method)) return command;
    const { trail } = state;
    const isKnown = this.#isRead(command) || this.#isSetUp(command);
    const isNext = trail !== undefined && isKnown && !this.#isOver(trail);
    const follower = isNext ? this.#habits.observe(trail.keys, command, trail.names) : null;
    if (!isNext || !follower) {
      this.#end(sessionId);
      this.#begin(command, state, isKnown);
      return command;
    }
    trail.asked(follower, id);
    const key = commandKey(command);
    return this.#reads.ask(key, command) || this.#setUps.ask(key, command) ? null : command;
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    if (this.#isOff) return message;
    const { id, method = '', sessionId } = message;
    this.#objects.onMessage(message);
    if (id === undefined) {
      if (sessionId !== undefined && INVALIDATING_EVENTS.test(method)) this.#end(sessionId);
      return message;
    }
    const set = this.#setUps.onMessage(message);
    const passed = set && this.#reads.onMessage(set);
    const state = this.#sessions.of(sessionId);
    if (passed?.id === undefined || !state?.trail) return passed;
    state.trail.responded(passed.id, passed, this.#savings.now());
    this.#sendFollowers(state.trail, state);
    return passed;
  }

  /** Nothing will be sent early, so that nothing has to be learned. */
  get #isOff(): boolean {
    return this.#savings.isNear && this.#reads.isIdle && this.#setUps.isIdle;
  }

  /** The world's document may be gone by then, or the object: Puppeteer takes no notice. */
  #release(command: CdpMessage): CdpMessage | null {
    const { id, method, params, sessionId } = command;
    if (!this.#savings.isFar || !this.#objects.worldOf(command)) return command;
    this.#reads.post({ method, params, sessionId });
    this.#savings.used();
    this.#transport.deliver({ id, sessionId, result: {} });
    return null;
  }

  #begin(command: CdpMessage, state: SessionState, isKnown: boolean): void {
    const { method, sessionId = '' } = command;
    const world = this.#objects.worldOf(command);
    if (!world || !(isKnown || (method === 'Runtime.callFunctionOn' && this.#isUtility(command)))) return;
    const worlds = [...world.session.worlds.values()].filter(({ frameId }) => frameId === world.frameId);
    const main = worlds.find(({ isDefault }) => isDefault);
    const utility = worlds.find((each) => this.#worlds.includes(each));
    const root = ReadHabits.rootOf(command);
    const keys = ReadHabits.keysOf(command, `${state.previous} ${root}`);
    state.previous = root;
    const known = { main: `world ${main?.id}`, utility: `world ${utility?.id}` };
    const trail = new ReadTrail(command, sessionId, keys, known);
    state.trail = trail;
    if (!this.#savings.isFar || this.#worlds.isWatched(sessionId)) return;
    if (this.#transport.isPending((pending) => pending.method.startsWith('Input.'))) return;
    trail.todo = this.#habits.followers(keys);
    this.#expect(command, 'head', trail, command);
    // After the command itself.
    queueMicrotask(() => this.#sendFollowers(trail, state));
  }

  /** Sends what can be sent: in order, except for what is independent of the document's state. */
  #sendFollowers(trail: ReadTrail, state: SessionState): void {
    if (state.trail !== trail || trail.todo.length === 0) return;
    const { sessionId } = trail;
    const left: Follower[] = [];
    for (const follower of trail.todo) {
      const { method } = follower;
      const params = ReadHabits.fill(follower, trail.values);
      const command = params && { method, params, sessionId };
      const isSetUp = command !== null && this.#isSetUp(command);
      if (command && (isSetUp || left.length === 0)) this.#send(command, isSetUp, follower, trail, state);
      else left.push(follower);
    }
    trail.todo = left;
  }

  #send(command: CdpMessage, isSetUp: boolean, follower: Follower, trail: ReadTrail, state: SessionState): void {
    const { result } = follower;
    const world = result === null ? undefined : this.#expect(command, result, trail);
    const onResponse = (response: CdpMessage) => {
      if (world) trail.arrived(world);
      if (result === null) return;
      const value = valueIn(response);
      if (value === null) trail.todo = [];
      else trail.name(value, result);
      this.#sendFollowers(trail, state);
    };
    (isSetUp ? this.#setUps : this.#reads).send(commandKey(command), command, onResponse);
    trail.sent.add(follower);
  }

  /**
   * The response to a command will contain an object, whose ID is known in advance. Returns its world.
   * @param head the command, if it is the trail's first one
   */
  #expect(command: CdpMessage, name: string, trail: ReadTrail, head?: CdpMessage): World | undefined {
    const { returnByValue } = fieldsOf<Protocol.Runtime.CallFunctionOnRequest>(command.params);
    const world = this.#objects.worldOf(command);
    if (!world || command.method === 'DOM.describeNode' || returnByValue === true) return undefined;
    const objectId = this.#objects.next(world, trail.expect(world, head));
    if (objectId !== null) trail.values.set(name, objectId);
    return world;
  }

  #isOver({ respondedAt }: ReadTrail): boolean {
    return respondedAt !== null && this.#savings.now() - respondedAt > FRESH_MS;
  }

  #isUtility(command: CdpMessage): boolean {
    const world = this.#objects.worldOf(command);
    return world !== undefined && this.#worlds.includes(world);
  }

  #isRead(command: CdpMessage): boolean {
    return isRead(command, this.#isUtility(command));
  }

  #isSetUp(command: CdpMessage): boolean {
    return isSetUp(command, this.#isUtility(command));
  }

  /** Reads in a session are no longer valid. */
  #end(sessionId: string): void {
    this.#reads.drop((of) => of === sessionId);
    const state = this.#sessions.of(sessionId);
    const trail = state?.trail;
    if (!trail) return;
    state.trail = undefined;
    trail.sent.end();
    this.#habits.meet(trail.keys);
  }
}

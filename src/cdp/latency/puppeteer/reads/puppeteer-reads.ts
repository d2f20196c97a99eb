import type { Protocol } from 'devtools-protocol';
import type { Savings } from '../../../figures.ts';
import { type CdpMessage, fieldsOf } from '../../../message.ts';
import { Attached } from '../../../model/per-session.ts';
import { referencedObjects, worldOf } from '../../../model/remote-objects.ts';
import type { World } from '../../../model/session.ts';
import type { Interceptor, InterceptorTransport } from '../../../transport/interceptor.ts';
import { commandKey, PipelinedCommands } from '../../pipelined-commands.ts';
import { type Follower, type HabitKeys, isSame, makesValue, ReadHabits, tokenOf } from '../../reads/read-habits.ts';
import { ReadTrail, ReadTrails, valueIn } from '../../reads/read-trail.ts';
import { belongsTo, isIdentity, isLasting, isSetUp, type ReadKind, readOf } from './recognised-commands.ts';

type WorldFields = Protocol.Runtime.EvaluateRequest & Protocol.Runtime.CallFunctionOnRequest;

/** Commands that change nothing in a document, so that earlier reads stay valid. */
const HARMLESS = /^(?:Network|Fetch|Log|Target|IO|Performance)\./;
/** The first query in a document has seven followers. */
const MAX_FOLLOWERS = 16;

/**
 * Sends Puppeteer's reads directly after the command that they follow, as learned from Puppeteer: with the IDs that
 * objects will have, or as soon as the response arrives that contains them. Puppeteer gets each response when it sends
 * exactly that command. Only recognized commands are sent: reads, and what Puppeteer prepares in its own world of a new
 * document; and none while an input event is pending, because a read could overtake it.
 *
 * A read answers only the call that it was sent in: a test may wait before the next one, and the page may change.
 * Puppeteer's commands do not show where a call ends, so a read is sent only behind a command that it always follows
 * ({@link belongsTo}). Any other command, which may be the first one of a call, goes to the browser, and what was sent
 * before it is dropped, except for what cannot change: which node an object is, and another object for that node.
 *
 * Objects are released without waiting: Puppeteer ignores the response.
 */
export class PuppeteerReads implements Interceptor {
  readonly #transport: InterceptorTransport;
  readonly #savings: Savings;
  /** Reads of the present call. */
  readonly #reads: PipelinedCommands;
  /** The set-up of a document, and nodes of objects: what is valid as long as the document is. */
  readonly #lasting: PipelinedCommands;
  readonly #habits = new ReadHabits(MAX_FOLLOWERS);
  readonly #trails: ReadTrails<CallTrail>;
  /** The nodes of objects that Puppeteer has got, see {@link tokenOf}: they never change. */
  readonly #nodes = new Attached<World, Map<string, string>>(() => new Map());

  constructor(transport: InterceptorTransport, savings: Savings) {
    this.#transport = transport;
    this.#savings = savings;
    this.#reads = new PipelinedCommands(transport, savings);
    this.#lasting = new PipelinedCommands(transport, savings, { isUsable: isLasting });
    this.#trails = new ReadTrails(transport, savings, this.#reads, this.#habits);
    transport.model.onWorldEnd(({ session: { id } }) => {
      this.#trails.end(id);
      this.#lasting.drop((of) => of === id);
    });
  }

  onCommand(command: CdpMessage): CdpMessage | null {
    if (!this.#trails.observe(command)) return command;
    const { id, method = '', sessionId } = command;
    if (method === 'Runtime.releaseObject') return this.#release(command);
    if (HARMLESS.test(method)) return command;
    const trail = this.#trails.in(sessionId);
    const kind = readOf(command, this.#isUtility(command));
    const isNext = trail && (kind ? trail.includes(command, kind) : this.#isSetUp(command));
    const follower = isNext ? this.#habits.observe(trail.keys, command, trail.names) : null;
    const key = commandKey(command);
    if (!isNext || !follower) {
      this.#trails.end(sessionId);
      this.#begin(command, kind);
      return this.#lasting.ask(key, command) ? null : command;
    }
    trail.asked(follower, id, kind);
    if (this.#reads.ask(key, command) || this.#lasting.ask(key, command)) return null;
    // What was sent before this command would be older than its response.
    this.#reads.drop((of) => of === sessionId);
    return command;
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    if (this.#trails.areOff && this.#lasting.isIdle) return message;
    if (message.id === undefined) this.#trails.onEvent(message);
    const set = this.#lasting.onMessage(message);
    const passed = set && this.#reads.onMessage(set);
    const trail = this.#trails.in(message.sessionId);
    if (passed?.id === undefined || !trail) return passed;
    trail.responded(passed.id, passed);
    this.#sendFollowers(trail);
    return passed;
  }

  /** The world's document may be gone by then, or the object: Puppeteer takes no notice. */
  #release(command: CdpMessage): CdpMessage | null {
    const { id, method, params, sessionId } = command;
    const world = this.#worldOf(command);
    for (const objectId of referencedObjects(command)) if (world) this.#nodes.of(world).delete(objectId);
    if (!this.#savings.isFar || !world) return command;
    this.#reads.post({ method, params, sessionId });
    this.#savings.used();
    this.#transport.deliver({ id, sessionId, result: {} });
    return null;
  }

  #begin(command: CdpMessage, kind: ReadKind | null): void {
    const { method, sessionId = '' } = command;
    const world = this.#worldOf(command);
    const isUtility = this.#isUtility(command);
    if (!world || !(kind || this.#isSetUp(command) || (method === 'Runtime.callFunctionOn' && isUtility))) return;
    const worlds = [...world.session.worlds.values()].filter(({ frameId }) => frameId === world.frameId);
    const main = worlds.find(({ isDefault }) => isDefault);
    const utility = worlds.find((each) => this.#trails.worlds.includes(each));
    // What follows depends on whether the object is one of the test's.
    const keys = ReadHabits.keysOf(command, `${isUtility} ${ReadHabits.rootOf(command)}`);
    const known = { main: `world ${main?.id}`, utility: `world ${utility?.id}` };
    const trail = new CallTrail(command, kind, keys, known);
    const node = kind === 'node' ? this.#nodes.of(world).get(referencedObjects(command)[0] ?? '') : undefined;
    if (node !== undefined) trail.name(node, 'head');
    if (!this.#trails.begin(sessionId, trail)) return;
    trail.todo = this.#habits.followers(keys);
    this.#expect(command, 'head', trail, command);
    // After the command itself.
    queueMicrotask(() => this.#sendFollowers(trail));
  }

  /** Sends what can be sent: in order, except for what is independent of the document's state. */
  #sendFollowers(trail: CallTrail): void {
    if (this.#trails.in(trail.sessionId) !== trail || trail.todo.length === 0) return;
    const { sessionId } = trail;
    const left: Follower[] = [];
    for (const follower of trail.todo) {
      const { method } = follower;
      const params = ReadHabits.fill(follower, trail.values);
      const command = params && { method, params, sessionId };
      const isSetUp = command !== null && this.#isSetUp(command);
      if (command && (isSetUp || left.length === 0)) this.#send(command, isSetUp, follower, trail);
      else left.push(follower);
    }
    trail.todo = left;
  }

  #send(command: CdpMessage, isSetUp: boolean, follower: Follower, trail: CallTrail): void {
    const { result } = follower;
    const world = result === null ? undefined : this.#expect(command, result, trail);
    const onResponse = (response: CdpMessage) => {
      if (world) trail.arrived(world);
      if (result === null) return;
      const value = valueIn(response);
      if (value === null) trail.todo = [];
      else trail.name(value, result);
      const object = this.#worldOf({ params: { objectId: value }, sessionId: trail.sessionId });
      const { backendNodeId } = fieldsOf<Protocol.DOM.ResolveNodeRequest>(command.params);
      const node = tokenOf('backendNodeId', backendNodeId);
      if (value !== null && object && node !== null) this.#nodes.of(object).set(value, node);
      this.#sendFollowers(trail);
    };
    const lasts = isSetUp || isIdentity(readOf(command, false));
    (lasts ? this.#lasting : this.#reads).send(commandKey(command), command, onResponse);
    trail.sent(follower);
  }

  /**
   * The response to a command will contain an object, whose ID is known in advance. Returns its world.
   * @param head the command, if it is the trail's first one
   */
  #expect(command: CdpMessage, name: string, trail: CallTrail, head?: CdpMessage): World | undefined {
    const world = this.#worldOf(command);
    if (!world || command.method === 'DOM.describeNode' || !makesValue(command)) return undefined;
    const objectId = this.#transport.model.objects.next(world, trail.expect(world, head));
    if (objectId !== null) trail.values.set(name, objectId);
    return world;
  }

  /** The world that a command runs in, or that its object is in. */
  #worldOf({ params, sessionId }: CdpMessage): World | undefined {
    const { executionContextId, contextId = executionContextId } = fieldsOf<WorldFields>(params);
    const session = this.#transport.model.session(sessionId);
    const [objectId] = referencedObjects({ params });
    return typeof contextId === 'number' ? session?.worlds.get(contextId) : worldOf(session, objectId);
  }

  #isUtility(command: CdpMessage): boolean {
    const world = this.#worldOf(command);
    return world !== undefined && this.#trails.worlds.includes(world);
  }

  #isSetUp(command: CdpMessage): boolean {
    return isSetUp(command, this.#isUtility(command));
  }
}

/** A command of Puppeteer's, and what it has sent since in the same call. */
class CallTrail extends ReadTrail {
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

import type { Protocol } from 'devtools-protocol';
import { setImmediate } from '../../../common/clock.ts';
import type { Savings } from '../../figures.ts';
import { type CdpMessage, fieldsOf } from '../../message.ts';
import { PerSession } from '../../model/per-session.ts';
import { hasThrown, objectOf, referencedObjects } from '../../model/remote-objects.ts';
import type { Session, World } from '../../model/session.ts';
import type { Interceptor, InterceptorTransport } from '../../transport/interceptor.ts';
import type { PendingCommand } from '../../transport/pending-commands.ts';
import { PipelinedCommands } from '../pipelined-commands.ts';
import { UtilityWorlds } from '../utility-worlds.ts';
import { callOf, type FoundScript, type KnownScript, KnownScripts } from './known-scripts.ts';
import { PredictedObjects } from './predicted-objects.ts';
import { ScriptCache } from './script-cache.ts';

/** Evaluated only to learn the prefix of object IDs. */
const ANY_OBJECT = '({})';

/** What is known about one of the client's worlds. */
interface WorldState {
  /** Nothing but these scripts has created an object there. */
  isUntouched: boolean;
  /** The scripts stored there. */
  readonly stock: readonly KnownScript[];
}

interface PageState {
  /** It has left its initial empty document. */
  hasNavigated: boolean;
  /** Its process is not known yet. */
  isBlank: boolean;
}

/** One of the client's scripts, and the world where it is evaluated. */
interface ScriptInWorld extends FoundScript {
  readonly world: World;
}

/**
 * Hides the latency of the scripts that the client evaluates in each new document before its first action there. The
 * scripts are stored in the browser, so that they cross the connection once per page. And the client gets the response
 * at once: the objects of a new world are numbered from one, so the client can already use them while its script is
 * being sent. The scripts are learned from what the client evaluates in its isolated worlds. Nothing is evaluated
 * before the client asks for it, and nothing in the main world.
 */
export class PipelinedScripts implements Interceptor {
  readonly #transport: InterceptorTransport;
  readonly #savings: Savings;
  readonly #sent: PipelinedCommands;
  readonly #worlds: UtilityWorlds;
  readonly #scripts = new KnownScripts();
  readonly #cache: ScriptCache;
  readonly #predicted: PredictedObjects;
  readonly #states = new WeakMap<World, WorldState>();
  readonly #pages: PerSession<PageState>;
  /** Commands of the client that may turn out to be such scripts. */
  readonly #asked = new Map<number, string>();

  constructor(transport: InterceptorTransport, savings: Savings) {
    this.#transport = transport;
    this.#savings = savings;
    this.#sent = new PipelinedCommands(transport, savings, { isUsable: hasObject });
    this.#pages = new PerSession(transport.model, () => ({ hasNavigated: false, isBlank: false }));
    this.#cache = new ScriptCache(transport.model, (command, onResponse) => this.#sent.post(command, onResponse));
    this.#predicted = new PredictedObjects(transport);
    this.#worlds = new UtilityWorlds(transport.model);
    transport.model.onWorld((world) => this.#onWorld(world));
    transport.model.onWorldEnd(({ session, frameId }) => {
      // A main frame's world ends when its document is left.
      const isMain = frameId === session.target.id;
      if (isMain) Object.assign(this.#pages.of(session.id) ?? {}, { hasNavigated: true, isBlank: false });
    });
  }

  onCommand(command: CdpMessage): CdpMessage | null {
    const { method, params, sessionId } = command;
    this.#worlds.onCommand(command);
    if (sessionId === undefined) return command;
    if (method === 'Page.addScriptToEvaluateOnNewDocument') this.#keep(sessionId, params);
    if (method === 'Page.createIsolatedWorld' && this.#isPage(sessionId)) this.#askForIsolateLater(sessionId);
    if (method === 'Debugger.enable') this.#cache.remove(sessionId);
    const found = method === 'Runtime.evaluate' ? this.#scriptIn(command, sessionId) : null;
    if (found) return this.#evaluate(command, found);
    return this.#predicted.onCommand(command, this.#touch(command, sessionId));
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    const { id } = message;
    if (id === undefined) return message;
    const text = this.#asked.get(id);
    this.#asked.delete(id);
    if (text !== undefined && hasObject(message) && !hasThrown(message)) this.#scripts.add(text, looksOf(message));
    const passed = this.#sent.onMessage(message);
    return passed && this.#predicted.onResponse(passed);
  }

  /** The client's script in a command, if it evaluates one in its isolated world. */
  #scriptIn({ id, params }: CdpMessage, sessionId: string): ScriptInWorld | null {
    // A browser that is near stays near: there is nothing to learn for.
    if (this.#savings.isNear && this.#scripts.all.length === 0) return null;
    const { expression, contextId, ...more } = fieldsOf<Protocol.Runtime.EvaluateRequest>(params);
    const world = this.#worlds.get(sessionId, contextId);
    if (!world || typeof expression !== 'string' || !KnownScripts.mayBe(expression)) return null;
    if (Object.keys(more).length > 0) return null;
    const found = this.#scripts.find(expression);
    if (!found && id !== undefined) this.#asked.set(id, expression);
    return found && { ...found, world };
  }

  /** Returns the command to send; null if the client has its response, or gets it from here. */
  #evaluate(command: CdpMessage, found: ScriptInWorld): CdpMessage | null {
    const { world } = found;
    const [sessionId, contextId] = [world.session.id, world.id];
    const objectId = this.#states.get(world)?.isUntouched ? this.#transport.model.objects.reserve(world) : null;
    if (!this.#mayHide(sessionId)) return command;
    const key = `${sessionId} ${contextId} ${command.id}`;
    const short = this.#shortened(command, found);
    if (objectId !== null) {
      this.#sent.send(key, short ?? withoutId(command));
      this.#predict(command, key, objectId, found);
      return null;
    }
    if (!short) return command;
    this.#sent.send(key, short);
    return this.#sent.ask(key, command) ? null : command;
  }

  /** The same evaluation, but the script's text is stored in the world; null if it is not. */
  #shortened({ method, sessionId }: CdpMessage, { world, script, number }: ScriptInWorld): CdpMessage | null {
    const known = this.#scripts.all;
    const indexes = (this.#states.get(world)?.stock ?? []).map((each) => known.indexOf(each));
    const index = known.indexOf(script);
    if (!indexes.includes(index) || indexes.includes(-1)) return null;
    return { method, sessionId, params: { expression: callOf(index, number, indexes), contextId: world.id } };
  }

  /** Responds to the client with its script's future object; the script is being sent as `key`. */
  #predict(command: CdpMessage, key: string, objectId: string, { script, world }: ScriptInWorld): void {
    const { id } = command;
    const sessionId = world.session.id;
    this.#predicted.predict(sessionId, objectId);
    this.#sent.take(key, (response) => {
      if (response) {
        this.#predicted.made(sessionId, objectId, String(objectOf(response).objectId));
        return;
      }
      if (!this.#predicted.late(sessionId, objectId)) return;
      this.#sent.send(`${key} late`, withoutId(command));
      this.#sent.take(`${key} late`, (late) => {
        this.#predicted.made(sessionId, objectId, late && String(objectOf(late).objectId));
      });
    });
    this.#transport.deliver({ id, sessionId, result: { result: { ...script.looks, objectId } } });
  }

  #onWorld(world: World): void {
    const { session } = world;
    if (this.#worlds.includes(world) && this.#pages.of(session.id)?.hasNavigated) this.#onUtilityWorld(world);
    this.#askForIsolate(session);
  }

  #onUtilityWorld(world: World): void {
    const { session, id, frameId } = world;
    const stock = this.#scripts.all.filter((script) => this.#cache.has(session.id, script));
    const state: WorldState = { isUntouched: false, stock };
    this.#states.set(world, state);
    // Another process may reuse the number of an earlier context: pending commands for that would create objects here.
    const namesIt = (command: PendingCommand) => command.sessionId === session.id && command.contextId === id;
    if (this.#transport.isPending(namesIt)) return;
    state.isUntouched = true;
    const isMain = frameId === session.target.id;
    const { objects } = this.#transport.model;
    if (!isMain || objects.next(world) !== null || !this.#mayHide(session.id)) return;
    // In a new process, its first object is ours.
    objects.reserve(world);
    this.#makeObject(session.id, id);
  }

  /**
   * A command that may create objects in a new world: from then on their number is unknown.
   * Returns whether it names the world itself, not an object in it.
   */
  #touch(command: CdpMessage, sessionId: string): boolean {
    const { contextId, executionContextId } = fieldsOf<{ contextId: number; executionContextId: number }>(
      command.params,
    );
    const world = this.#worlds.get(sessionId, contextId ?? executionContextId);
    const all = [world, ...referencedObjects(command).map((objectId) => this.#worlds.ofObject(sessionId, objectId))];
    for (const each of all) {
      const state = each && this.#states.get(each);
      if (state) state.isUntouched = false;
    }
    return world !== undefined;
  }

  /** The client creates an isolated world in each of a page's documents: its scripts are needed there. */
  #keep(sessionId: string, params: unknown): void {
    const { worldName } = fieldsOf<Protocol.Page.AddScriptToEvaluateOnNewDocumentRequest>(params);
    if (typeof worldName !== 'string' || worldName === '' || !this.#isPage(sessionId)) return;
    // After the commands that the client sends at once and waits for.
    setImmediate(() => {
      if (this.#mayHide(sessionId)) this.#cache.keep(sessionId, worldName, this.#scripts.all);
    });
  }

  #askForIsolateLater(sessionId: string): void {
    const session = this.#transport.model.session(sessionId);
    const page = this.#pages.of(sessionId);
    if (!session || !page || !this.#mayHide(sessionId)) return;
    page.isBlank = true;
    // After the client's own command.
    queueMicrotask(() => this.#askForIsolate(session));
  }

  /**
   * The client creates a world in a page's initial blank document. Any object there shows the prefix of the object IDs
   * in the first real document, if the process stays the same. The world is the context after the newest one.
   */
  #askForIsolate(session: Session): void {
    const page = this.#pages.of(session.id);
    const contextId = page?.isBlank ? this.#transport.model.objects.nextWorld(session) : null;
    if (!page || contextId === null) return;
    page.isBlank = false;
    this.#makeObject(session.id, contextId);
  }

  #makeObject(sessionId: string, contextId: number): void {
    this.#sent.post({ method: 'Runtime.evaluate', params: { expression: ANY_OBJECT, contextId }, sessionId });
  }

  #mayHide(sessionId: string): boolean {
    const { isFar } = this.#savings;
    return isFar && this.#scripts.all.length > 0 && this.#worlds.has(sessionId) && !this.#worlds.isWatched(sessionId);
  }

  #isPage(sessionId: string): boolean {
    return this.#worlds.has(sessionId) && this.#transport.model.session(sessionId)?.target.type === 'page';
  }
}

function withoutId({ id: _, ...command }: CdpMessage): CdpMessage {
  return command;
}

function hasObject(message: CdpMessage): boolean {
  return typeof objectOf(message).objectId === 'string';
}

function looksOf(message: CdpMessage): object {
  const { objectId: _, ...looks } = objectOf(message);
  return looks;
}

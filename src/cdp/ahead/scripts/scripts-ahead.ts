import type { Protocol } from 'devtools-protocol';
import { SessionMap } from '../../model/per-session.ts';
import type { Interceptor, InterceptorLink } from '../../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';
import { objectsOf } from '../objects-of.ts';
import type { Savings } from '../savings.ts';
import { SentAhead } from '../sent-ahead.ts';
import { type UtilityWorld, UtilityWorlds } from '../utility-worlds.ts';
import { ForetoldObjects } from './foretold-objects.ts';
import { Isolates } from './isolates.ts';
import { KeptScripts } from './kept-scripts.ts';
import { callOf, type FoundScript, type KnownScript, KnownScripts } from './known-scripts.ts';
import { UnderWay } from './under-way.ts';

/** Asked for only to see what IDs of objects begin with. */
const ANY_OBJECT = '({})';

/** What the browser says when a session's documents are gone. */
const ENDS_DOCUMENTS = new Set(['Runtime.executionContextsCleared', 'Inspector.targetCrashed']);

/** One of the client's scripts, and where it evaluates it. */
interface ScriptInWorld extends FoundScript {
  readonly world: UtilityWorld;
}

/**
 * The scripts that the client evaluates in each new document before its first action there. They are kept in the browser, so that
 * they cross the line once a page. And the client is told at once what it will get: the objects of a new world are
 * counted up from one, so it can go on with them while its script is on its way. Which scripts is learned from what the client
 * evaluates in worlds of its own. Nothing is evaluated before it asks for that, and nothing in the main world.
 */
export class ScriptsAhead implements Interceptor {
  readonly #link: InterceptorLink;
  readonly #savings: Savings;
  readonly #sent: SentAhead;
  readonly #worlds: UtilityWorlds;
  readonly #scripts = new KnownScripts();
  readonly #kept: KeptScripts;
  readonly #isolates: Isolates;
  readonly #foretold: ForetoldObjects;
  /** New worlds in which nothing but these scripts was evaluated, and how many objects those have made. */
  readonly #fresh = new WeakMap<UtilityWorld, number>();
  /** What each world has of the scripts. */
  readonly #stock = new WeakMap<UtilityWorld, readonly KnownScript[]>();
  readonly #underWay: UnderWay;
  /** Sessions whose process is still to be asked for. */
  readonly #blank: SessionMap<string, true>;
  /** The client's commands that may turn out to be such scripts. */
  readonly #asked = new Map<number, string>();

  constructor(link: InterceptorLink, savings: Savings) {
    this.#link = link;
    this.#savings = savings;
    this.#sent = new SentAhead(link, savings, {
      isUsable: hasObject,
      onUnused: (answer) => this.#release(answer),
    });
    this.#isolates = new Isolates(link.model);
    this.#underWay = new UnderWay(link.model);
    this.#blank = new SessionMap(link.model);
    this.#kept = new KeptScripts(link.model, (command, onAnswer) => this.#sent.post(command, onAnswer));
    this.#foretold = new ForetoldObjects(link.model, (command) => this.#sent.sendLate(command));
    this.#worlds = new UtilityWorlds(link.model, {
      onMade: (world) => this.#onMade(world),
      onEnd: (sessionId) => this.#sent.drop((of) => of === sessionId),
    });
  }

  onCommand(command: CdpMessage): CdpMessage | null {
    const { method, params, sessionId } = command;
    this.#worlds.onCommand(command);
    if (sessionId === undefined) return command;
    if (method === 'Page.addScriptToEvaluateOnNewDocument') this.#keep(sessionId, params);
    if (method === 'Page.createIsolatedWorld' && this.#worlds.isPage(sessionId)) this.#onWorld(sessionId);
    if (method === 'Debugger.enable') this.#kept.remove(sessionId);
    const found = method === 'Runtime.evaluate' ? this.#scriptIn(command, sessionId) : null;
    if (found) return this.#evaluate(command, found);
    return this.#foretold.onCommand(command, this.#touch(command, sessionId));
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    const { id, method, sessionId } = message;
    this.#isolates.onMessage(message);
    if (id === undefined) {
      this.#worlds.onEvent(message);
      if (method === 'Runtime.executionContextCreated' && sessionId !== undefined) this.#askForIsolate(sessionId);
      if (ENDS_DOCUMENTS.has(method ?? '') && sessionId !== undefined) this.#onCleared(sessionId);
      return message;
    }
    const text = this.#asked.get(id);
    this.#asked.delete(id);
    if (text !== undefined && hasObject(message)) this.#scripts.add(text, looksOf(message));
    const passed = this.#sent.onMessage(message);
    if (passed?.id !== undefined) this.#underWay.answered(passed.id);
    return passed && this.#foretold.onAnswer(passed);
  }

  /** What a command of the client evaluates, if it is one of its scripts in a world of its own. */
  #scriptIn({ id, params }: CdpMessage, sessionId: string): ScriptInWorld | null {
    const { expression, contextId, ...more } = fieldsOf<Protocol.Runtime.EvaluateRequest>(params);
    const world = this.#worlds.get(sessionId, contextId);
    if (!world || typeof expression !== 'string' || !KnownScripts.mayBe(expression)) return null;
    if (Object.keys(more).length > 0) return null;
    const found = this.#scripts.find(expression);
    if (!found && id !== undefined) this.#asked.set(id, expression);
    return found && { ...found, world };
  }

  /** Returns what is sent of the client's command; null when it has its answer, or will get it from here. */
  #evaluate(command: CdpMessage, found: ScriptInWorld): CdpMessage | null {
    const { world } = found;
    const { sessionId, contextId } = world;
    const made = this.#fresh.get(world);
    if (made !== undefined) this.#fresh.set(world, made + 1);
    this.#underWay.sent(command.id, sessionId, contextId);
    if (!this.#mayHide(sessionId)) return command;
    const prefix = this.#isolates.prefixOf(sessionId, contextId);
    const key = `${sessionId} ${contextId} ${command.id}`;
    const short = this.#shortened(command, found);
    if (prefix !== null && made !== undefined) {
      this.#sent.send(key, short ?? withoutId(command), () => this.#underWay.answered(command.id));
      this.#foretell(command, key, `${prefix}.${made + 1}`, found);
      return null;
    }
    if (!short) return command;
    this.#sent.send(key, short, () => this.#underWay.answered(command.id));
    return this.#sent.ask(key, command) ? null : command;
  }

  /** As the client would, but for the text, which the world has; null where it has not. */
  #shortened({ method, sessionId }: CdpMessage, { world, script, number }: ScriptInWorld): CdpMessage | null {
    const known = this.#scripts.all;
    const indexes = (this.#stock.get(world) ?? []).map((each) => known.indexOf(each));
    const index = known.indexOf(script);
    if (!indexes.includes(index) || indexes.includes(-1)) return null;
    return { method, sessionId, params: { expression: callOf(index, number, indexes), contextId: world.contextId } };
  }

  /** The client is told what its script's object will be, which is on its way as `key`. */
  #foretell(command: CdpMessage, key: string, objectId: string, { script, world }: ScriptInWorld): void {
    const { id } = command;
    const { sessionId, contextId } = world;
    this.#foretold.foretell(sessionId, objectId);
    this.#sent.take(key, (answer) => {
      if (answer) {
        this.#foretold.made(sessionId, objectId, String(objectOf(answer).objectId));
        return;
      }
      if (!this.#foretold.late(sessionId, objectId)) return;
      this.#underWay.sent(key, sessionId, contextId);
      this.#sent.send(`${key} late`, withoutId(command), () => this.#underWay.answered(key));
      this.#sent.take(`${key} late`, (late) => {
        this.#foretold.made(sessionId, objectId, late && String(objectOf(late).objectId));
      });
    });
    this.#link.deliver({ id, sessionId, result: { result: { ...script.looks, objectId } } });
  }

  #onMade(world: UtilityWorld): void {
    const { sessionId, contextId } = world;
    this.#stock.set(
      world,
      this.#scripts.all.filter((script) => this.#kept.has(sessionId, script)),
    );
    if (this.#underWay.has(sessionId, contextId)) return;
    this.#fresh.set(world, 0);
    if (!world.isMain || this.#isolates.prefixOf(sessionId, contextId) !== null || !this.#mayHide(sessionId)) return;
    // In a process that is not known yet, its first object is ours.
    this.#fresh.set(world, 1);
    this.#makeObject(sessionId, contextId);
  }

  /**
   * A command that may make objects in a new world: from then on nobody knows how many there are.
   * Returns whether it is one by the world, not by an object in it.
   */
  #touch(command: CdpMessage, sessionId: string): boolean {
    const { contextId, executionContextId } = fieldsOf<{ contextId: number; executionContextId: number }>(
      command.params,
    );
    const named = contextId ?? executionContextId;
    if (typeof named === 'number' && command.id !== undefined) this.#underWay.sent(command.id, sessionId, named);
    const world = this.#worlds.get(sessionId, named);
    const all = [world, ...objectsOf(command).map((objectId) => this.#worlds.ofObject(sessionId, objectId))];
    for (const each of all) if (each) this.#fresh.delete(each);
    return world !== undefined;
  }

  /** The client has a world of its own made in each of a page's documents: its scripts are wanted there. */
  #keep(sessionId: string, params: unknown): void {
    const { worldName } = fieldsOf<Protocol.Page.AddScriptToEvaluateOnNewDocumentRequest>(params);
    if (typeof worldName !== 'string' || worldName === '' || !this.#worlds.isPage(sessionId)) return;
    // Behind what the client has to say at once, and waits for.
    setImmediate(() => {
      if (this.#mayHide(sessionId)) this.#kept.keep(sessionId, worldName, this.#scripts.all);
    });
  }

  #onWorld(sessionId: string): void {
    if (!this.#mayHide(sessionId)) return;
    this.#blank.set(sessionId, true, sessionId);
    // Behind the client's own command.
    queueMicrotask(() => this.#askForIsolate(sessionId));
  }

  /**
   * The client has a world made in the blank document that a page begins with. Any object there tells how those of the first
   * real document will be called, if its process stays the same. The world is the context that follows the newest one.
   */
  #askForIsolate(sessionId: string): void {
    const contextId = this.#isolates.nextContext(sessionId);
    if (contextId === null || !this.#blank.delete(sessionId)) return;
    this.#makeObject(sessionId, contextId);
  }

  #makeObject(sessionId: string, contextId: number): void {
    const command = { method: 'Runtime.evaluate', params: { expression: ANY_OBJECT, contextId }, sessionId };
    this.#underWay.sent(command, sessionId, contextId);
    this.#sent.post(command, () => this.#underWay.answered(command));
  }

  #mayHide(sessionId: string): boolean {
    const { isFar } = this.#savings;
    return isFar && this.#scripts.all.length > 0 && this.#worlds.has(sessionId) && !this.#worlds.isWatched(sessionId);
  }

  #onCleared(sessionId: string): void {
    this.#blank.delete(sessionId);
    this.#foretold.cleared(sessionId);
  }

  #release(answer: CdpMessage): void {
    const { sessionId } = answer;
    const { objectId } = objectOf(answer);
    if (typeof objectId !== 'string' || sessionId === undefined || !this.#worlds.has(sessionId)) return;
    this.#sent.post({ method: 'Runtime.releaseObject', params: { objectId }, sessionId });
  }
}

function withoutId({ id: _, ...command }: CdpMessage): CdpMessage {
  return command;
}

function hasObject(message: CdpMessage): boolean {
  const { exceptionDetails } = fieldsOf<Protocol.Runtime.EvaluateResponse>(message.result);
  return exceptionDetails === undefined && typeof objectOf(message).objectId === 'string';
}

function looksOf(message: CdpMessage): object {
  const { objectId: _, ...looks } = objectOf(message);
  return looks;
}

function objectOf({ result }: CdpMessage) {
  return fieldsOf<Protocol.Runtime.RemoteObject>(fieldsOf<Protocol.Runtime.EvaluateResponse>(result).result);
}

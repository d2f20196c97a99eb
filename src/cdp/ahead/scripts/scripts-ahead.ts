import type { Protocol } from 'devtools-protocol';
import type { Interceptor, InterceptorLink } from '../../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';
import type { Savings } from '../savings.ts';
import { SentAhead } from '../sent-ahead.ts';
import { type UtilityWorld, UtilityWorlds } from '../utility-worlds.ts';
import { ForetoldObjects } from './foretold-objects.ts';
import { Isolates } from './isolates.ts';
import { KeptScripts } from './kept-scripts.ts';
import { callOf, evaluationOf, type KnownScript, KnownScripts } from './known-scripts.ts';

/**
 * Has the client's own scripts evaluated in each new document as soon as that is there, as the client does before its first
 * action: by then it has long been done, or at least it is known which objects they will be. Which scripts is learned
 * from what the client evaluates in worlds of its own; each has an object for its result, which is what the client gets when
 * it evaluates that very text there. Only in the main frame's document, and never in the main world.
 */
export class ScriptsAhead implements Interceptor {
  readonly #link: InterceptorLink;
  readonly #savings: Savings;
  readonly #sent: SentAhead;
  readonly #worlds: UtilityWorlds;
  readonly #scripts = new KnownScripts();
  readonly #kept: KeptScripts;
  readonly #isolates = new Isolates();
  readonly #foretold: ForetoldObjects;
  /** Sessions whose process is still to be asked for. */
  readonly #blank = new Set<string>();
  /** Worlds that have the scripts, and those. */
  readonly #stocked = new WeakMap<UtilityWorld, ReadonlySet<KnownScript>>();
  /** The client's commands that may turn out to be such scripts. */
  readonly #asked = new Map<number, string>();

  constructor(link: InterceptorLink, savings: Savings) {
    this.#link = link;
    this.#savings = savings;
    this.#sent = new SentAhead(link, savings, {
      isUsable: hasObject,
      onUnused: (answer) => this.#release(answer),
    });
    this.#kept = new KeptScripts((command, onAnswer) => this.#sent.post(command, onAnswer));
    this.#foretold = new ForetoldObjects((command) => this.#sent.sendLate(command));
    this.#worlds = new UtilityWorlds({
      onMade: (world) => this.#prepare(world),
      onUpheaval: (sessionId) => this.#sent.drop((of) => of === sessionId),
      onEnd: (sessionId) => this.#forget(sessionId),
    });
  }

  onCommand(command: CdpMessage): CdpMessage | null {
    const { method, params, sessionId } = command;
    this.#worlds.onCommand(command);
    if (sessionId === undefined) return command;
    if (method === 'Page.addScriptToEvaluateOnNewDocument') this.#keep(sessionId, params);
    if (method === 'Page.createIsolatedWorld' && this.#worlds.isPage(sessionId)) this.#onWorld(sessionId);
    if (method === 'Debugger.enable') this.#kept.remove(sessionId);
    if (method === 'Runtime.evaluate' && this.#onEvaluate(command, sessionId)) return null;
    return this.#foretold.onCommand(command);
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    const { id, method, sessionId } = message;
    this.#isolates.onMessage(message);
    if (id === undefined) {
      this.#worlds.onEvent(message);
      if (method === 'Runtime.executionContextCreated' && sessionId !== undefined) this.#askForIsolate(sessionId);
      if (method === 'Runtime.executionContextsCleared' && sessionId !== undefined) this.#foretold.cleared(sessionId);
      return message;
    }
    const script = this.#asked.get(id);
    if (script !== undefined) {
      this.#asked.delete(id);
      // Others are evaluated now: those of before are not expected again.
      if (hasObject(message) && this.#scripts.add(script, looksOf(message))) this.#sent.drop();
    }
    const passed = this.#sent.onMessage(message);
    return passed && this.#foretold.onAnswer(passed);
  }

  /** Returns whether the client has got its answer, or will get it from here. */
  #onEvaluate(command: CdpMessage, sessionId: string): boolean {
    const { expression, contextId, ...more } = fieldsOf<Protocol.Runtime.EvaluateRequest>(command.params);
    const world = this.#worlds.get(sessionId, contextId);
    if (!world || typeof expression !== 'string' || !KnownScripts.mayBe(expression)) return false;
    if (Object.keys(more).length > 0) return false;
    const index = this.#scripts.indexOf(expression);
    if (index >= 0) return this.#answer(command, world, index);
    if (command.id !== undefined) this.#asked.set(command.id, expression);
    return false;
  }

  #answer(command: CdpMessage, world: UtilityWorld, index: number): boolean {
    const { sessionId, contextId } = world;
    const key = keyOf(world, index);
    const prefix = this.#isolates.prefixOf(sessionId, contextId);
    // Of a new world, these are the first objects.
    if (prefix !== null && this.#foretell(command, key, `${prefix}.${index + 1}`, index)) return true;
    if (this.#sent.ask(key, command)) return true;
    const script = this.#scripts.all[index];
    if (!script || !this.#stocked.get(world)?.has(script)) return false;
    // As the client would, but for the text, which the world has.
    const params = { expression: callOf(index, false), contextId };
    this.#sent.send(key, { method: 'Runtime.evaluate', params, sessionId });
    return this.#sent.ask(key, command);
  }

  /** The client is told what its script's object will be, while that is still on its way. */
  #foretell(command: CdpMessage, key: string, objectId: string, index: number): boolean {
    const { id, sessionId = '', method, params } = command;
    const looks = this.#scripts.all[index]?.looks;
    const onAnswer = (answer: CdpMessage | null): void => {
      if (answer) {
        this.#foretold.made(sessionId, objectId, String(objectOf(answer).objectId));
        return;
      }
      this.#foretold.late(sessionId, objectId);
      const late = `${key} late`;
      this.#sent.send(late, { method, params, sessionId });
      this.#sent.take(late, (own) => {
        this.#foretold.made(sessionId, objectId, own && String(objectOf(own).objectId));
      });
    };
    if (id === undefined || !looks || !this.#sent.take(key, onAnswer)) return false;
    this.#foretold.foretell(sessionId, objectId);
    this.#link.deliver({ id, sessionId, result: { result: { ...looks, objectId } } });
    return true;
  }

  #prepare(world: UtilityWorld): void {
    const { sessionId, contextId, isMain } = world;
    const scripts = this.#scripts.all;
    const stock = new Set(scripts.filter((script) => this.#kept.has(sessionId, script)));
    this.#stocked.set(world, stock);
    if (!isMain || !this.#savings.isFar || this.#worlds.isWatched(sessionId)) return;
    for (const [index, script] of scripts.entries()) {
      const expression = stock.has(script) ? callOf(index, true) : evaluationOf(script);
      const params = { expression, contextId };
      this.#sent.send(keyOf(world, index), { method: 'Runtime.evaluate', params, sessionId });
    }
  }

  /** The client has a world of its own made in each of a page's documents: its scripts are wanted there. */
  #keep(sessionId: string, params: unknown): void {
    const { worldName } = fieldsOf<Protocol.Page.AddScriptToEvaluateOnNewDocumentRequest>(params);
    if (typeof worldName !== 'string' || worldName === '' || !this.#worlds.isPage(sessionId)) return;
    // Behind what the client has to say at once, and waits for.
    setImmediate(() => {
      if (this.#savings.isFar && this.#worlds.has(sessionId)) this.#kept.keep(sessionId, worldName, this.#scripts.all);
    });
  }

  #onWorld(sessionId: string): void {
    if (!this.#savings.isFar || this.#scripts.all.length === 0 || this.#worlds.isWatched(sessionId)) return;
    this.#blank.add(sessionId);
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
    this.#sent.post({ method: 'Runtime.evaluate', params: { expression: '({})', contextId }, sessionId });
  }

  #forget(sessionId: string): void {
    this.#sent.forget(sessionId);
    this.#blank.delete(sessionId);
    this.#kept.forget(sessionId);
    this.#isolates.forget(sessionId);
    this.#foretold.forget(sessionId);
  }

  #release(answer: CdpMessage): void {
    const { sessionId } = answer;
    const { objectId } = objectOf(answer);
    if (typeof objectId !== 'string' || sessionId === undefined || !this.#worlds.has(sessionId)) return;
    this.#sent.post({ method: 'Runtime.releaseObject', params: { objectId }, sessionId });
  }
}

function keyOf({ sessionId, contextId }: UtilityWorld, index: number): string {
  return `${sessionId} ${contextId} ${index}`;
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

import type { Protocol } from 'devtools-protocol';
import type { Interceptor, InterceptorLink } from '../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../transport/message.ts';
import type { Savings } from './savings.ts';
import { SentAhead } from './sent-ahead.ts';
import { type UtilityWorld, UtilityWorlds } from './utility-worlds.ts';

/** So many scripts are kept in mind. Playwright has two. */
const MAX_SCRIPTS = 4;
/** The script must begin with a line of its own: its lines then have the same numbers behind what is put before it. */
const BEGINS_A_LINE = /^\s*\n/;
/** Before there is a root element, the script would make an event of its coming that it does not make otherwise. */
const ONCE_THERE_IS_A_ROOT = 'document.documentElement&&';

/**
 * Puts the client's own scripts into each new document as soon as that is there, as the client does before its first
 * action: by then it has long been done. Which scripts is learned from what the client evaluates in worlds of its own;
 * each has an object for its result, which is what the client gets when it evaluates that very text there. Only in the
 * main frame's document, and never in the main world.
 */
export class ScriptsAhead implements Interceptor {
  readonly #savings: Savings;
  readonly #sent: SentAhead;
  readonly #worlds: UtilityWorlds;
  /** In the order in which the client evaluates them. */
  readonly #scripts: string[] = [];
  /** The client's commands that may turn out to be such scripts. */
  readonly #asked = new Map<number, string>();

  constructor(link: InterceptorLink, savings: Savings) {
    this.#savings = savings;
    this.#sent = new SentAhead(link, savings, {
      isUsable: hasObject,
      onUnused: (answer) => this.#release(answer),
    });
    this.#worlds = new UtilityWorlds({
      onMade: (world) => this.#prepare(world),
      onUpheaval: (sessionId) => this.#sent.drop((of) => of === sessionId),
      onEnd: (sessionId) => this.#sent.forget(sessionId),
    });
  }

  onCommand(command: CdpMessage): CdpMessage | null {
    this.#worlds.onCommand(command);
    if (command.method !== 'Runtime.evaluate' || command.sessionId === undefined) return command;
    const { expression, contextId, ...more } = fieldsOf<Protocol.Runtime.EvaluateRequest>(command.params);
    const world = this.#worlds.get(command.sessionId, contextId);
    if (!world || typeof expression !== 'string' || !BEGINS_A_LINE.test(expression)) return command;
    if (Object.keys(more).length > 0) return command;
    const index = this.#scripts.indexOf(expression);
    if (index >= 0 && this.#sent.ask(keyOf(world, index), command)) return null;
    if (index < 0 && command.id !== undefined) this.#asked.set(command.id, expression);
    return command;
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    if (message.id === undefined) {
      this.#worlds.onEvent(message);
      return message;
    }
    const script = this.#asked.get(message.id);
    if (script !== undefined) {
      this.#asked.delete(message.id);
      if (hasObject(message) && !this.#scripts.includes(script)) {
        this.#scripts.push(script);
        if (this.#scripts.length > MAX_SCRIPTS) this.#forget();
      }
    }
    return this.#sent.onMessage(message);
  }

  /** Others are evaluated now: those of before are not expected again. */
  #forget(): void {
    this.#sent.drop();
    this.#scripts.splice(0, this.#scripts.length - 1);
  }

  #prepare(world: UtilityWorld): void {
    if (!world.isMain || !this.#savings.isFar) return;
    const { sessionId, contextId } = world;
    for (const [index, script] of this.#scripts.entries()) {
      const params = { expression: `${ONCE_THERE_IS_A_ROOT}${script}`, contextId };
      this.#sent.send(keyOf(world, index), { method: 'Runtime.evaluate', params, sessionId });
    }
  }

  #release({ sessionId, result }: CdpMessage): void {
    const { objectId } = resultOf(result);
    if (typeof objectId !== 'string' || sessionId === undefined || !this.#worlds.has(sessionId)) return;
    this.#sent.post({ method: 'Runtime.releaseObject', params: { objectId }, sessionId });
  }
}

function keyOf({ sessionId, contextId }: UtilityWorld, index: number): string {
  return `${sessionId} ${contextId} ${index}`;
}

function hasObject({ result }: CdpMessage): boolean {
  const { exceptionDetails } = fieldsOf<Protocol.Runtime.EvaluateResponse>(result);
  return exceptionDetails === undefined && typeof resultOf(result).objectId === 'string';
}

function resultOf(result: unknown) {
  return fieldsOf<Protocol.Runtime.RemoteObject>(fieldsOf<Protocol.Runtime.EvaluateResponse>(result).result);
}

import type { BrowserModel } from '../../model/browser-model.ts';
import { PerSession } from '../../model/per-session.ts';
import type { CdpMessage } from '../../transport/message.ts';
import { objectsOf } from '../objects-of.ts';

/** What became of an object that the client was told of before the browser had made it. */
interface Foretold {
  /** `'coming'`: as it was foretold, as far as is known. `'late'`: with another ID, or not yet. `'never'`: it will not be. */
  state: 'coming' | 'late' | 'made' | 'never';
  /** Its ID in the browser, once it is made. */
  actual?: string;
}

interface Known {
  readonly objects: Map<string, Foretold>;
  /** Commands about objects that were still to come when they were sent. */
  readonly unsure: Map<number, CdpMessage>;
  /** The client's that have to wait until all is as it should be; in its order. */
  readonly held: CdpMessage[];
}

/** Where commands go that were sent in vain, or held back. */
type SendLate = (command: CdpMessage) => void;

/**
 * Objects that the client was told of before the browser had made them. Where one gets another ID than was foretold, a
 * command about it has had no effect, as there was no such object: it is sent again, with the right ID, and so is each
 * that follows.
 */
export class ForetoldObjects {
  readonly #sessions: PerSession<Known>;
  readonly #sendLate: SendLate;

  /** @param sendLate sends a command of the client whose answer the client is to get */
  constructor(model: BrowserModel, sendLate: SendLate) {
    this.#sessions = new PerSession(model, () => ({ objects: new Map(), unsure: new Map(), held: [] }));
    this.#sendLate = sendLate;
  }

  /** The client is told of an object. */
  foretell(sessionId: string, objectId: string): void {
    this.#sessions.of(sessionId)?.objects.set(objectId, { state: 'coming' });
  }

  /** It will not come as it was foretold; {@link made} tells how. Returns whether its document is still there. */
  late(sessionId: string, objectId: string): boolean {
    const object = this.#sessions.of(sessionId)?.objects.get(objectId);
    if (object) object.state = 'late';
    return object !== undefined;
  }

  /** It is there. @param actual its ID; null: it will never be */
  made(sessionId: string, objectId: string, actual: string | null): void {
    const session = this.#sessions.of(sessionId);
    const object = session?.objects.get(objectId);
    if (!session || !object) return;
    if (actual === null) object.state = 'never';
    else if (actual === objectId) session.objects.delete(objectId);
    else Object.assign(object, { state: 'made', actual });
    if (isUnsure(session)) return;
    for (const command of session.held.splice(0)) this.#sendLate(translated(session, command));
  }

  /**
   * Returns what is sent of a client's command; null: nothing yet.
   * @param makesObjects whether it may make another object where some are still to come, which could get the ID of one of those
   */
  onCommand(command: CdpMessage, makesObjects: boolean): CdpMessage | null {
    const session = this.#sessions.of(command.sessionId);
    if (!session || session.objects.size === 0) return command;
    const states = objectsOf(command).flatMap((objectId) => session.objects.get(objectId)?.state ?? []);
    const isOther = makesObjects && states.length === 0;
    const hasToWait = states.includes('late') || (isOther && isUnsure(session));
    if (hasToWait || ((isOther || states.length > 0) && session.held.length > 0)) {
      session.held.push(command);
      return null;
    }
    if (states.includes('coming') && command.id !== undefined) session.unsure.set(command.id, command);
    return translated(session, command);
  }

  /** Returns what the client gets of an answer; null: it gets another one later. */
  onAnswer(message: CdpMessage): CdpMessage | null {
    const { id, sessionId, error } = message;
    const session = this.#sessions.of(sessionId);
    if (!session || id === undefined) return message;
    const command = session.unsure.get(id);
    session.unsure.delete(id);
    if (command && error && objectsOf(command).some((objectId) => session.objects.has(objectId))) {
      if (isUnsure(session)) {
        session.held.push(command);
        return null;
      }
      const again = translated(session, command);
      if (again !== command) {
        this.#sendLate(again);
        return null;
      }
    }
    return renamed(session, message);
  }

  /** The documents that a session had are gone, and all objects in them; or their process is. */
  cleared(sessionId: string): void {
    const session = this.#sessions.of(sessionId);
    session?.objects.clear();
    session?.unsure.clear();
    // The browser says that there are no such objects.
    for (const command of session?.held.splice(0) ?? []) this.#sendLate(command);
  }
}

/** Whether some objects are still to come, or known not to come as they should. */
function isUnsure({ objects }: Known): boolean {
  return [...objects.values()].some(({ state }) => state === 'coming' || state === 'late');
}

/** A command with the IDs that its objects have in the browser. */
function translated({ objects }: Known, command: CdpMessage): CdpMessage {
  if (!objectsOf(command).some((objectId) => objects.get(objectId)?.actual !== undefined)) return command;
  return { ...command, params: mapped(command.params ?? {}, (objectId) => objects.get(objectId)?.actual ?? objectId) };
}

/** An answer in which no other object has an ID that the client knows as one of the foretold. */
function renamed({ objects }: Known, message: CdpMessage): CdpMessage {
  const isTaken = (objectId: string) => (objects.get(objectId)?.state ?? 'coming') !== 'coming';
  if (message.result === undefined || ![...objects.keys()].some(isTaken)) return message;
  const result = mapped(message.result, (objectId) => {
    if (!isTaken(objectId)) return objectId;
    const alias = `${objectId}.again`;
    objects.set(alias, { state: 'made', actual: objectId });
    return alias;
  });
  return { ...message, result };
}

function mapped(value: unknown, to: (objectId: string) => string): unknown {
  return JSON.parse(JSON.stringify(value), (field, inner) =>
    field === 'objectId' && typeof inner === 'string' ? to(inner) : inner,
  );
}

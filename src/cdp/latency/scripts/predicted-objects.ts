import type { CdpMessage } from '../../message.ts';
import { PerSession } from '../../model/per-session.ts';
import { referencedObjects } from '../../model/remote-objects.ts';
import type { World } from '../../model/session.ts';
import type { InterceptorTransport } from '../../transport/interceptor.ts';

/** State of an object that the client got before the browser had created it. */
type Predicted =
  /** As predicted, as far as is known. */
  | { readonly state: 'coming' }
  /** With another ID, or not yet. */
  | { readonly state: 'late' }
  | { readonly state: 'made' /** Its ID in the browser. */; readonly actual: string }
  /** It will never exist. */
  | { readonly state: 'never' };

interface Known {
  readonly objects: Map<string, Predicted>;
  /** Commands that referred to objects that did not exist yet when they were sent. */
  readonly unsure: Map<number, CdpMessage>;
  /** Commands of the client that wait until all objects exist, in order. */
  readonly held: CdpMessage[];
}

/**
 * Objects that the client got before the browser had created them. If one gets another ID than predicted, a command
 * that refers to it had no effect, because there was no such object: it is sent again with the correct ID, and so is
 * each command after it.
 */
export class PredictedObjects {
  readonly #sessions: PerSession<Known>;
  readonly #transport: InterceptorTransport;

  constructor(transport: InterceptorTransport) {
    this.#transport = transport;
    this.#sessions = new PerSession(transport.model, () => ({ objects: new Map(), unsure: new Map(), held: [] }));
    transport.model.onWorldEnd((world) => this.#ended(world));
  }

  /** The client gets an object. */
  predict(sessionId: string, objectId: string): void {
    this.#sessions.of(sessionId)?.objects.set(objectId, { state: 'coming' });
  }

  /** It will not be created as predicted; {@link made} reports how. Returns whether its document still exists. */
  late(sessionId: string, objectId: string): boolean {
    const { objects } = this.#sessions.of(sessionId) ?? {};
    if (!objects?.has(objectId)) return false;
    objects.set(objectId, { state: 'late' });
    return true;
  }

  /** It exists. @param actual its ID; null if it will never exist */
  made(sessionId: string, objectId: string, actual: string | null): void {
    const session = this.#sessions.of(sessionId);
    if (!session?.objects.has(objectId)) return;
    if (actual === objectId) session.objects.delete(objectId);
    else session.objects.set(objectId, actual === null ? { state: 'never' } : { state: 'made', actual });
    this.#release(session);
  }

  /**
   * Returns the client's command to send now; null if it must wait.
   * @param makesObjects whether it may create another object while some are pending, which could get the ID of one of
   * those
   */
  onCommand(command: CdpMessage, makesObjects: boolean): CdpMessage | null {
    const session = this.#sessions.of(command.sessionId);
    if (!session || session.objects.size === 0) return command;
    const states = referencedObjects(command).flatMap((objectId) => session.objects.get(objectId)?.state ?? []);
    const isOther = makesObjects && states.length === 0;
    const hasToWait = states.includes('late') || (isOther && isUnsure(session));
    if (hasToWait || ((isOther || states.length > 0) && session.held.length > 0)) {
      session.held.push(command);
      return null;
    }
    if (states.includes('coming') && command.id !== undefined) session.unsure.set(command.id, command);
    return translated(session, command);
  }

  /** Returns the response for the client; null if the client gets another one later. */
  onResponse(message: CdpMessage): CdpMessage | null {
    const { id, sessionId, error } = message;
    const session = this.#sessions.of(sessionId);
    if (!session || id === undefined) return message;
    const command = session.unsure.get(id);
    session.unsure.delete(id);
    if (command && error && referencedObjects(command).some((objectId) => session.objects.has(objectId))) {
      if (isUnsure(session)) {
        session.held.push(command);
        return null;
      }
      const again = translated(session, command);
      if (again !== command) {
        this.#transport.pass(again);
        return null;
      }
    }
    return renamed(session, message);
  }

  #ended({ session: { id: sessionId }, id }: World): void {
    const session = this.#sessions.of(sessionId);
    if (!session || session.objects.size === 0) return;
    for (const objectId of session.objects.keys()) if (isIn(id, objectId)) session.objects.delete(objectId);
    // For an object that is gone with its world, the browser responds that it does not exist.
    this.#release(session);
  }

  #release(session: Known): void {
    if (isUnsure(session)) return;
    for (const command of session.held.splice(0)) this.#transport.pass(translated(session, command));
  }
}

/** Whether an object is in a world: `<isolate>.<context>.<number>`. */
function isIn(contextId: number, objectId: string): boolean {
  return objectId.split('.')[1] === String(contextId);
}

/** Whether some objects are pending, or known to differ from the prediction. */
function isUnsure({ objects }: Known): boolean {
  return [...objects.values()].some(({ state }) => state === 'coming' || state === 'late');
}

/** A command with the objects' actual IDs. */
function translated({ objects }: Known, command: CdpMessage): CdpMessage {
  const actualOf = (objectId: string) => {
    const object = objects.get(objectId);
    return object?.state === 'made' ? object.actual : objectId;
  };
  if (referencedObjects(command).every((objectId) => actualOf(objectId) === objectId)) return command;
  return { ...command, params: mapped(command.params ?? {}, actualOf) };
}

/** A response in which no other object has an ID that the client knows as a predicted one. */
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

import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, type Fields, fieldsOf } from '../message.ts';
import type { Session, World } from './session.ts';

/** What is known about the objects of a session, or of one of its worlds. */
interface Known {
  /** The first part of their IDs, which is that of their process; undefined while there are none. */
  isolate: string | undefined;
  /** Number of the newest world of the session, or of the newest object in the world; 0 if there is none. */
  last: number;
}

/** Events that contain objects. */
const WITH_OBJECTS = new Set(['Runtime.consoleAPICalled', 'Runtime.exceptionThrown']);

/**
 * Counts the JavaScript objects that a client can refer to. Their IDs are `<isolate>.<world>.<number>`. A process
 * numbers its worlds sequentially, and a world numbers the objects of each session, so that the next IDs are known in
 * advance.
 */
export class RemoteObjects {
  readonly #known = new WeakMap<Session | World, Known>();

  /**
   * The ID of the next object in a world; null if it is not known, because its process has created none.
   * @param coming how many others are on their way
   */
  next(world: World, coming = 0): string | null {
    const { isolate = this.#of(world.session).isolate, last } = this.#of(world);
    return isolate === undefined ? null : `${isolate}.${world.id}.${last + coming + 1}`;
  }

  /** The same, for an object that is on its way before any other: later IDs follow it. */
  reserve(world: World): string | null {
    const id = this.next(world);
    this.#of(world).last += 1;
    return id;
  }

  /** The number of the next world in a session; null if none is known yet. */
  nextWorld(session: Session): number | null {
    const { last } = this.#of(session);
    return last > 0 ? last + 1 : null;
  }

  /** The browser has reported a world. Another process than before shows by its number, which starts again. */
  meetWorld({ session, id }: World): void {
    const known = this.#of(session);
    if (id <= known.last) known.isolate = undefined;
    known.last = id;
  }

  /** Takes a message of a session before the interceptors do. */
  before({ id, method = '', params, result }: CdpMessage, session: Session): void {
    if (id === undefined) {
      if (WITH_OBJECTS.has(method)) for (const objectId of idsIn(params)) this.#count(session, objectId);
      return;
    }
    const { result: value, object } = fieldsOf<{ result: object; object: object }>(result);
    // A value may contain anything, the properties of an object only objects.
    const made = Array.isArray(value) ? idsIn(value) : [fieldsOf<{ objectId: string }>(value ?? object).objectId];
    for (const objectId of made) this.#count(session, objectId);
  }

  #count(session: Session, objectId: unknown): void {
    const world = worldOf(session, objectId);
    if (!world) return;
    const [isolate, , number] = String(objectId).split('.');
    const known = this.#of(world);
    known.isolate = isolate;
    known.last = Math.max(known.last, Number(number) || 0);
    this.#of(session).isolate = isolate;
  }

  #of(owner: Session | World): Known {
    const known = this.#known.get(owner) ?? { isolate: undefined, last: 0 };
    this.#known.set(owner, known);
    return known;
  }
}

export function worldOf(session: Session | undefined, objectId: unknown): World | undefined {
  return typeof objectId === 'string' ? session?.worlds.get(Number(objectId.split('.')[1])) : undefined;
}

/** The value in the response to `Runtime.evaluate`, `Runtime.callFunctionOn` and `DOM.resolveNode`. */
export function objectOf({ result }: CdpMessage): Fields<Protocol.Runtime.RemoteObject> {
  const { result: value, object } = fieldsOf<Protocol.Runtime.EvaluateResponse & Protocol.DOM.ResolveNodeResponse>(
    result,
  );
  return fieldsOf(value ?? object);
}

/** Whether a response reports an exception instead of a result. */
export function hasThrown({ result }: CdpMessage): boolean {
  return fieldsOf<Protocol.Runtime.EvaluateResponse>(result).exceptionDetails !== undefined;
}

/** IDs of the objects that a command refers to. */
export function referencedObjects({ params }: CdpMessage): string[] {
  return idsIn(params);
}

function idsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([field, held]) =>
    field === 'objectId' && typeof held === 'string' ? [held] : idsIn(held),
  );
}

import type { BrowserModel } from './browser-model.ts';
import type { Session } from './session.ts';

/** State that an interceptor keeps for each object of the model. Created on first use, and removed with the object. */
export class Attached<Owner extends object, State> {
  readonly #make: (owner: Owner) => State;
  readonly #states = new WeakMap<Owner, State>();

  constructor(make: (owner: Owner) => State) {
    this.#make = make;
  }

  of(owner: Owner): State {
    const state = this.#states.get(owner) ?? this.#make(owner);
    this.#states.set(owner, state);
    return state;
  }
}

/** The same for sessions, by their IDs. */
export class PerSession<State> {
  readonly #model: BrowserModel;
  readonly #states: Attached<Session, State>;

  constructor(model: BrowserModel, make: (session: Session) => State) {
    this.#model = model;
    this.#states = new Attached(make);
  }

  /** Undefined if there is no such session (anymore). */
  of(sessionId: string | undefined): State | undefined {
    const session = this.#model.session(sessionId);
    return session && this.#states.of(session);
  }
}

/** A map whose entries are removed together with their sessions. */
export class SessionMap<Key, Value> {
  readonly #model: BrowserModel;
  readonly #entries = new Map<Key, { value: Value; sessionId: string }>();

  /** @param onLost called with each entry that is removed because its session has ended */
  constructor(model: BrowserModel, onLost?: (value: Value, key: Key) => void) {
    this.#model = model;
    model.onSessionEnd(({ id }) => {
      for (const [key, { value, sessionId }] of this.#entries) {
        if (sessionId !== id) continue;
        this.#entries.delete(key);
        onLost?.(value, key);
      }
    });
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Stores nothing for a session that has ended. */
  set(key: Key, value: Value, sessionId: string | undefined): void {
    if (sessionId !== undefined && this.#model.session(sessionId)) this.#entries.set(key, { value, sessionId });
  }

  delete(key: Key): boolean {
    return this.#entries.delete(key);
  }

  *[Symbol.iterator](): Iterator<[Key, Value]> {
    for (const [key, { value }] of this.#entries) yield [key, value];
  }
}

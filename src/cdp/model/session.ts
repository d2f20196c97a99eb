/** A target of the browser: a page, a frame in a process of its own, a worker, the browser itself. */
export interface Target {
  /** Of a page or a frame, the ID of its (main) frame, too. */
  readonly id: string;
  readonly type: string;
  /** Of its browser context; undefined where the browser names none. */
  readonly contextId: string | undefined;
  /** Of a page, the ID of the frame that opened it, if any. */
  readonly openerId: string | undefined;
  /** The address that it had at first. */
  readonly url: string;
  /** Those on it, oldest first. Each of them gets the target's events. */
  readonly sessions: Set<Session>;
}

/** A CDP session: what the browser calls an attachment to a target. */
export interface Session {
  readonly id: string;
  readonly target: Target;
  /** The session that it was announced in; undefined where the browser announced it to the client itself. */
  readonly parent: Session | undefined;
  /** Those that were announced in it. They end with it, without a word of the browser's. */
  readonly children: Set<Session>;
  /** JavaScript contexts, as the browser reports them in this session. */
  readonly worlds: Map<number, World>;
  /** The client has been told of the session, and not of its end. */
  isShown: boolean;
}

/** A JavaScript context, as the browser reports it in one session (`Runtime.executionContextCreated`). */
export interface World {
  readonly session: Session;
  /** Unique in its process; another world may have it after a page went over to another process. */
  readonly id: number;
  /** Unique for good: what is said to it reaches no other. */
  readonly uniqueId: string;
  readonly name: string;
  /** Of the document: `about:blank` has the one of its creator, a sandboxed or `data:` document one that equals no other. */
  readonly origin: string;
  /** The document's own scripts run in it, not a client's or an extension's. */
  readonly isDefault: boolean;
  /** Undefined in a worker. */
  readonly frameId: string | undefined;
}

/** A session and all that were announced in it, and in those. */
export function withDescendants(session: Session): Session[] {
  return [session, ...[...session.children].flatMap(withDescendants)];
}

import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../transport/message.ts';
import { type Session, type Target, type World, withDescendants } from './session.ts';
import { worldOf } from './world.ts';

/**
 * What there is in the browser, as it reports it on this link: targets, the sessions on them, and the worlds of their
 * documents. The one place that follows these; interceptors ask here, and what they keep hangs on what they find here
 * ({@link PerSession}, {@link SessionMap}).
 *
 * A session or world is there from before its announcement passes the interceptors until the message that ends it has
 * passed them. What the client has been told of is a view of it (`isShown`): interceptors hide some, or show it later.
 */
export class BrowserModel {
  readonly #sessions = new Map<string, Session>();
  readonly #targets = new Map<string, Target>();
  readonly #whenSessionEnds: ((session: Session) => void)[] = [];
  readonly #whenWorldEnds: ((world: World) => void)[] = [];

  session(id: unknown): Session | undefined {
    return this.#sessions.get(id as string);
  }

  target(id: unknown): Target | undefined {
    return this.#targets.get(id as string);
  }

  sessions(): Iterable<Session> {
    return this.#sessions.values();
  }

  /** Sessions on the targets of a browser context, oldest first. */
  sessionsIn(contextId: string): Session[] {
    return [...this.#sessions.values()].filter(({ target }) => target.contextId === contextId);
  }

  /** The newest world of a frame's own scripts in a session. */
  mainWorld(session: Session | undefined, frameId: string | undefined): World | undefined {
    return [...(session?.worlds.values() ?? [])].findLast((world) => world.isDefault && world.frameId === frameId);
  }

  /** Has a listener told of each session that ends; of those that end with another one behind that. */
  onSessionEnd(listener: (session: Session) => void): void {
    this.#whenSessionEnds.push(listener);
  }

  /** Has a listener told of each world that ends. */
  onWorldEnd(listener: (world: World) => void): void {
    this.#whenWorldEnds.push(listener);
  }

  /** To be told of a message of the browser before the interceptors are. */
  before({ method, params, sessionId }: CdpMessage): void {
    if (method === 'Target.attachedToTarget') this.#attach(params, sessionId);
    if (method === 'Runtime.executionContextCreated') this.#meetWorld(params, this.session(sessionId));
  }

  /** To be told of it when they have been. */
  after({ method, params, sessionId }: CdpMessage): void {
    if (method === 'Target.detachedFromTarget') {
      const session = this.session(fieldsOf<Protocol.Target.DetachedFromTargetEvent>(params).sessionId);
      if (session) this.#end(session);
    }
    if (method === 'Runtime.executionContextsCleared') this.#endWorlds(this.session(sessionId));
    if (method === 'Runtime.executionContextDestroyed') {
      const { executionContextId } = fieldsOf<Protocol.Runtime.ExecutionContextDestroyedEvent>(params);
      this.#endWorld(this.session(sessionId)?.worlds.get(executionContextId as number));
    }
  }

  /** The link is down: no world can be talked to anymore. */
  end(): void {
    for (const session of this.#sessions.values()) this.#endWorlds(session);
  }

  #attach(params: unknown, over: string | undefined): void {
    const { sessionId: id, targetInfo } = fieldsOf<Protocol.Target.AttachedToTargetEvent>(params);
    if (typeof id !== 'string' || this.#sessions.has(id)) return;
    const parent = over === undefined ? undefined : (this.session(over) ?? this.#unannounced(over));
    this.#add(id, this.#targetOf(targetInfo), parent);
  }

  /** A session that is there, without a word of when it came. */
  #unannounced(id: string): Session {
    return this.#add(id, this.#targetOf({ targetId: `of ${id}`, type: 'unknown' }), undefined);
  }

  #add(id: string, target: Target, parent: Session | undefined): Session {
    const session: Session = { id, target, parent, children: new Set(), worlds: new Map(), isShown: false };
    target.sessions.add(session);
    parent?.children.add(session);
    this.#sessions.set(id, session);
    return session;
  }

  #targetOf(info: unknown): Target {
    const { targetId, type, browserContextId, openerId, url } = fieldsOf<Protocol.Target.TargetInfo>(info);
    const known = this.target(targetId);
    if (known) return known;
    const target: Target = {
      id: String(targetId),
      type: String(type),
      contextId: typeof browserContextId === 'string' ? browserContextId : undefined,
      openerId: typeof openerId === 'string' ? openerId : undefined,
      url: String(url),
      sessions: new Set(),
    };
    this.#targets.set(target.id, target);
    return target;
  }

  #end(ended: Session): void {
    ended.parent?.children.delete(ended);
    for (const session of withDescendants(ended)) {
      this.#endWorlds(session);
      for (const listener of this.#whenSessionEnds) listener(session);
      this.#sessions.delete(session.id);
      session.target.sessions.delete(session);
      if (session.target.sessions.size === 0) this.#targets.delete(session.target.id);
    }
  }

  #meetWorld(params: unknown, session: Session | undefined): void {
    const world = session && worldOf(session, params);
    // Who enables the domain anew has each reported again.
    if (!world || session.worlds.get(world.id)?.uniqueId === world.uniqueId) return;
    this.#endWorld(session.worlds.get(world.id));
    session.worlds.set(world.id, world);
  }

  #endWorlds(session: Session | undefined): void {
    for (const world of session?.worlds.values() ?? []) this.#endWorld(world);
  }

  #endWorld(world: World | undefined): void {
    if (!world) return;
    world.session.worlds.delete(world.id);
    for (const listener of this.#whenWorldEnds) listener(world);
  }
}

import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../message.ts';
import { Frames } from './frames.ts';
import { RemoteObjects } from './remote-objects.ts';
import { Requests } from './requests.ts';
import { type Session, type Target, type World, withDescendants } from './session.ts';

/**
 * The browser's state as reported on this connection: targets, their sessions, and the worlds of their documents. Only
 * this class tracks these. Interceptors query it and attach their own state to what it returns ({@link PerSession},
 * {@link SessionMap}).
 *
 * A session or world exists here from just before its announcement passes the interceptors until just after the message
 * that ends it has passed them. {@link ClientView} decides what the client sees of it.
 */
export class BrowserModel {
  readonly frames = new Frames();
  readonly requests = new Requests();
  readonly objects = new RemoteObjects();
  readonly #sessions = new Map<string, Session>();
  readonly #whenSessionBegins: ((session: Session) => void)[] = [];
  readonly #whenSessionEnds: ((session: Session) => void)[] = [];
  readonly #whenWorldBegins: ((world: World) => void)[] = [];
  readonly #whenWorldEnds: ((world: World) => void)[] = [];

  session(id: unknown): Session | undefined {
    return this.#sessions.get(id as string);
  }

  /** Only targets with a session are known. */
  target(id: unknown): Target | undefined {
    for (const { target } of this.#sessions.values()) if (target.id === id) return target;
    return undefined;
  }

  sessions(): Iterable<Session> {
    return this.#sessions.values();
  }

  /** Sessions on the targets of a browser context, oldest first. */
  sessionsIn(contextId: string): Session[] {
    return [...this.#sessions.values()].filter(({ target }) => target.contextId === contextId);
  }

  /** Calls a listener for each session that the browser announces, before an interceptor sees the announcement. */
  onSession(listener: (session: Session) => void): void {
    this.#whenSessionBegins.push(listener);
  }

  /** Calls a listener for each session that ends; its child sessions follow it. */
  onSessionEnd(listener: (session: Session) => void): void {
    this.#whenSessionEnds.push(listener);
  }

  /** Calls a listener for each new world, before an interceptor sees its announcement. */
  onWorld(listener: (world: World) => void): void {
    this.#whenWorldBegins.push(listener);
  }

  onWorldEnd(listener: (world: World) => void): void {
    this.#whenWorldEnds.push(listener);
  }

  /** Takes a message from the browser before the interceptors do. */
  before(message: CdpMessage): void {
    const { method, params, sessionId } = message;
    if (method === 'Target.attachedToTarget') this.#attach(params, sessionId);
    const session = this.session(sessionId);
    if (!session) return;
    if (method === 'Runtime.executionContextCreated') this.#meetWorld(params, session);
    if (method === 'Inspector.targetCrashed') session.target.isCrashed = true;
    if (method === 'Inspector.targetReloadedAfterCrash' || method === 'Page.frameNavigated') {
      session.target.isCrashed = false;
    }
    if (method === 'Page.javascriptDialogOpening') session.target.dialogSession ??= session;
    if (method === 'Page.javascriptDialogClosed') session.target.dialogSession = undefined;
    if (method?.startsWith('Page.')) {
      session.target.address = addressOf(session.target, message);
      session.target.hasBeenElsewhere ||= isElsewhere(session.target.address);
    }
    if (session.isClients) this.frames.before(message, session);
    this.requests.before(message, session);
    this.objects.before(message, session);
  }

  /** Takes the same message after the interceptors. */
  after(message: CdpMessage): void {
    const { method, params, sessionId } = message;
    if (method === 'Target.detachedFromTarget') {
      const session = this.session(fieldsOf<Protocol.Target.DetachedFromTargetEvent>(params).sessionId);
      if (session) this.#end(session);
    }
    const endsWorlds = method === 'Runtime.executionContextsCleared' || method === 'Inspector.targetCrashed';
    if (endsWorlds) this.#endWorlds(this.session(sessionId));
    if (method === 'Runtime.executionContextDestroyed') {
      const { executionContextId } = fieldsOf<Protocol.Runtime.ExecutionContextDestroyedEvent>(params);
      this.#endWorld(this.session(sessionId)?.worlds.get(executionContextId as number));
    }
    if (this.session(sessionId)?.isClients) this.frames.after(message);
    this.requests.after(message);
  }

  /** The connection has closed: all worlds are unreachable. */
  end(): void {
    for (const session of this.#sessions.values()) this.#endWorlds(session);
  }

  #attach(params: unknown, over: string | undefined): void {
    const { sessionId: id, targetInfo } = fieldsOf<Protocol.Target.AttachedToTargetEvent>(params);
    if (typeof id !== 'string' || this.#sessions.has(id)) return;
    const parent = over === undefined ? undefined : (this.session(over) ?? this.#unannounced(over));
    const session = this.#add(id, this.#targetOf(targetInfo), parent);
    for (const listener of this.#whenSessionBegins) listener(session);
  }

  /** A session whose announcement was not seen. */
  #unannounced(id: string): Session {
    return this.#add(id, this.#targetOf({ targetId: `of ${id}`, type: 'unknown' }), undefined);
  }

  #add(id: string, target: Target, parent: Session | undefined): Session {
    const session: Session = {
      id,
      target,
      parent,
      children: new Set(),
      worlds: new Map(),
      // A test may open more sessions on a target. Sessions on the browser are the test's, too, or ours.
      isClients:
        !/^(browser|unknown)$/.test(target.type) &&
        (parent?.isClients ?? true) &&
        ![...target.sessions].some(({ isClients }) => isClients),
      isShown: false,
      veil: undefined,
    };
    target.sessions.add(session);
    parent?.children.add(session);
    this.#sessions.set(id, session);
    return session;
  }

  #targetOf(info: unknown): Target {
    const { targetId, type, browserContextId, openerId, url } = fieldsOf<Protocol.Target.TargetInfo>(info);
    const known = this.target(targetId);
    if (known) return known;
    return {
      id: String(targetId),
      type: String(type),
      contextId: typeof browserContextId === 'string' ? browserContextId : undefined,
      openerId: typeof openerId === 'string' ? openerId : undefined,
      url: String(url),
      address: String(url),
      hasBeenElsewhere: isElsewhere(String(url)),
      isCrashed: false,
      dialogSession: undefined,
      sessions: new Set(),
    };
  }

  #end(ended: Session): void {
    ended.parent?.children.delete(ended);
    for (const session of withDescendants(ended)) {
      this.#endWorlds(session);
      for (const listener of this.#whenSessionEnds) listener(session);
      this.frames.end(session);
      this.requests.end(session);
      this.#sessions.delete(session.id);
      session.target.sessions.delete(session);
    }
  }

  #meetWorld(params: unknown, session: Session): void {
    const world = worldOf(session, params);
    if (world) this.frames.meetWorld(world);
    // Enabling the Runtime domain again reports every world again.
    if (!world || session.worlds.get(world.id)?.uniqueId === world.uniqueId) return;
    this.#endWorld(session.worlds.get(world.id));
    session.worlds.set(world.id, world);
    this.objects.meetWorld(world);
    for (const listener of this.#whenWorldBegins) listener(world);
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

/** The address of a page after an event in one of its sessions. A page has the ID of its main frame. */
function addressOf({ id, address }: Target, { method, params }: CdpMessage): string {
  if (method === 'Page.frameNavigated') {
    const frame = fieldsOf<Protocol.Page.Frame>(fieldsOf<Protocol.Page.FrameNavigatedEvent>(params).frame);
    if (frame.id === id && typeof frame.url === 'string') return `${frame.url}${frame.urlFragment ?? ''}`;
  }
  if (method === 'Page.navigatedWithinDocument') {
    const { frameId, url } = fieldsOf<Protocol.Page.NavigatedWithinDocumentEvent>(params);
    if (frameId === id && typeof url === 'string') return url;
  }
  return address;
}

function isElsewhere(address: string): boolean {
  return !/^($|:$|about:blank|data:)/.test(address);
}

/** The world in the parameters of `Runtime.executionContextCreated`; null if there is none. */
function worldOf(session: Session, params: unknown): World | null {
  const { context } = fieldsOf<Protocol.Runtime.ExecutionContextCreatedEvent>(params);
  const { id, uniqueId, name, origin, auxData } = fieldsOf<Protocol.Runtime.ExecutionContextDescription>(context);
  const { isDefault, frameId } = fieldsOf<{ isDefault: boolean; frameId: string }>(auxData);
  if (typeof id !== 'number' || !Number.isInteger(id)) return null;
  return {
    session,
    id,
    uniqueId: typeof uniqueId === 'string' ? uniqueId : '',
    name: typeof name === 'string' ? name : '',
    origin: typeof origin === 'string' ? origin : '',
    isDefault: isDefault === true,
    frameId: typeof frameId === 'string' ? frameId : undefined,
  };
}

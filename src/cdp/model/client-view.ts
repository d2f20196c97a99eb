import type { Protocol } from 'devtools-protocol';
import { setImmediate } from '../../common/clock.ts';
import { type CdpMessage, fieldsOf } from '../message.ts';
import type { BrowserModel } from './browser-model.ts';
import { SessionMap } from './per-session.ts';
import { type Session, type Target, type Veil, withDescendants } from './session.ts';

/** What the view does on the connection. */
export interface ViewEnds {
  toClient(message: CdpMessage): void;
  /** The client has received the end of these sessions. */
  ended(sessionIds: string[]): void;
  /** Resumes a target in case it waits for the debugger, and detaches from it. */
  letGo(session: Session): void;
}

/** The fields of a target that decide whether it is shown. */
type AnnouncedTarget = Pick<Target, 'contextId' | 'type'>;
type TargetRule = (target: AnnouncedTarget) => boolean;

/** For targets that are hidden from all interceptors and then detached. */
const OURS: Veil = { state: 'ours', keepsPages: false };
/** For targets that are hidden from all interceptors and stay attached. */
const OURS_WITH_PAGES: Veil = { state: 'ours', keepsPages: true };

/**
 * The client's view of the model, and the only place where the two differ. Everything is shown except for sessions with
 * a {@link Veil}. The client receives the end of each session that it knows exactly once, even if the session is veiled
 * by then.
 */
export class ClientView {
  readonly #model: BrowserModel;
  readonly #ends: ViewEnds;
  readonly #contexts = new Map<string, Veil>();
  /** Our own targets, and those that a rule hides, while the browser reports them without a session. */
  readonly #targets = new Set<string>();
  /** Targets whose next session is for our own commands. */
  readonly #claimed = new Set<string>();
  readonly #rules: TargetRule[] = [];
  /** Commands that open or end a session on the browser and have no response yet, in order, by ID. */
  readonly #browserSessions = new Map<number, { isOurs: boolean; isAnnounced: boolean }>();
  readonly #whenShown: ((session: Session) => void)[] = [];
  readonly #whenDelivered: (() => void)[] = [];
  /** Receive the events of our sessions, by session ID. */
  readonly #listeners: SessionMap<string, (event: CdpMessage) => void>;
  /** Messages delivered one by one, each in a separate task. New messages queue behind them. */
  readonly #queue: CdpMessage[] = [];

  constructor(model: BrowserModel, ends: ViewEnds) {
    this.#model = model;
    this.#ends = ends;
    this.#listeners = new SessionMap(model);
    model.onSession((session) => this.#judge(session));
  }

  /**
   * Adds a rule for targets that the browser announces to the client: for those it applies to, no interceptor sees the
   * target, and we detach from it. Sessions that a test opens are not affected.
   */
  addRule(isOurs: TargetRule): void {
    this.#rules.push(isOurs);
  }

  /** Calls a listener for each session whose announcement the client gets. */
  onShown(listener: (session: Session) => void): void {
    this.#whenShown.push(listener);
  }

  /** Calls a listener for each message that the client gets. */
  onDelivered(listener: () => void): void {
    this.#whenDelivered.push(listener);
  }

  /** Marks the next session on a target as ours, and keeps it attached. */
  claim(targetId: string): void {
    this.#claimed.add(targetId);
  }

  /**
   * Takes each command as it is sent. A session on the browser that we open is ours, and so are the sessions that it
   * opens. Other sessions on the same pages are not affected.
   * @param isOurs whether the client has not sent it
   */
  sent({ id, method, params, sessionId: over }: CdpMessage, isOurs: boolean): void {
    if (id === undefined || over !== undefined) return;
    const { sessionId } = fieldsOf<Protocol.Target.DetachFromTargetRequest>(params);
    const isEnd = method === 'Target.detachFromTarget' && this.#model.session(sessionId)?.target.type === 'browser';
    if (isEnd || method === 'Target.attachToBrowserTarget') {
      this.#browserSessions.set(id, { isOurs, isAnnounced: isEnd });
    }
  }

  /** Sets the listener for the events of one of our sessions. */
  listen(sessionId: string, listener: (event: CdpMessage) => void): void {
    this.#listeners.set(sessionId, listener, sessionId);
  }

  /** Marks a context and its pages as ours, and keeps the pages attached. */
  ownContext(contextId: string): void {
    this.#contexts.set(contextId, OURS_WITH_PAGES);
  }

  /** Holds back all events of a context that has no targets yet. */
  hold(contextId: string): void {
    this.#contexts.set(contextId, { state: 'held', messages: [] });
  }

  /** Shows a context that was held back, with all its events. */
  show(contextId: string): void {
    const held = this.#contexts.get(contextId);
    if (held?.state !== 'held') return;
    this.#contexts.delete(contextId);
    this.#veil(contextId, undefined, (session) => session.veil === held);
    const isIdle = this.#queue.length === 0;
    for (const message of held.messages) this.#queue.push(message);
    if (isIdle) this.#deliverNext();
  }

  /** Drops everything held back for a context; shows what is new in it from now on. */
  discard(contextId: string): void {
    const held = this.#contexts.get(contextId);
    if (held?.state !== 'held') return;
    this.#contexts.delete(contextId);
    this.#veil(contextId, { state: 'hidden' }, (session) => session.veil === held);
  }

  /** Hides everything in a context, now and until it is closed. */
  hide(contextId: string): void {
    const veil: Veil = { state: 'hidden' };
    this.#contexts.set(contextId, veil);
    this.#veil(contextId, veil);
  }

  closed(contextId: string): void {
    this.#contexts.delete(contextId);
  }

  /** Takes a message from the browser if it is about one of our targets or sessions. Returns whether it is. */
  takes(message: CdpMessage): boolean {
    const isOurs = this.#isOurs(message);
    if (isOurs && message.sessionId !== undefined) this.#listeners.get(message.sessionId)?.(message);
    return isOurs;
  }

  #isOurs({ id, method, params, sessionId }: CdpMessage): boolean {
    if (id !== undefined) {
      this.#browserSessions.delete(id);
      return false;
    }
    if (sessionId !== undefined) return this.#model.session(sessionId)?.veil?.state === 'ours';
    if (!method?.startsWith('Target.')) return false;
    const fields = fieldsOf<Protocol.Target.AttachedToTargetEvent & Protocol.Target.TargetDestroyedEvent>(params);
    const session = this.#model.session(fields.sessionId);
    if (session) return session.veil?.state === 'ours';
    const info = fieldsOf<Protocol.Target.TargetInfo>(fields.targetInfo);
    const { targetId = fields.targetId, browserContextId: contextId } = info;
    // Clients that list targets, as Puppeteer does, learn whether the browser itself has a session.
    if (method === 'Target.targetInfoChanged' && info.type === 'browser' && this.#changesBrowser()) return true;
    if (method === 'Target.targetDestroyed') return this.#targets.delete(String(targetId));
    const veil = this.#contexts.get(String(contextId));
    const isHidden = !veil && method === 'Target.targetCreated' && this.#isRuledOut(announced(info));
    if (isHidden || veil?.state === 'ours') this.#targets.add(String(targetId));
    return this.#targets.has(String(targetId));
  }

  /** Delivers a message to the client, now or later, unless it is hidden. */
  deliver(message: CdpMessage): void {
    const { veil, isShown = false } = this.#sessionOf(message) ?? {};
    const isVeiled = veil !== undefined && !(message.method === 'Target.detachedFromTarget' && isShown);
    if (isVeiled) {
      if (veil.state === 'held') veil.messages.push(message);
    } else if (this.#queue.length > 0) {
      this.#queue.push(message);
    } else {
      this.#deliver(message);
    }
  }

  /** The session that an event belongs to or announces. */
  #sessionOf({ id, method, params, sessionId }: CdpMessage): Session | undefined {
    if (id !== undefined) return undefined;
    const { sessionId: about } = fieldsOf<Protocol.Target.AttachedToTargetEvent>(params);
    return this.#model.session(method?.startsWith('Target.') && about !== undefined ? about : sessionId);
  }

  #deliver(message: CdpMessage): void {
    this.#ends.toClient(message);
    for (const listener of this.#whenDelivered) listener();
    const { method } = message;
    if (method !== 'Target.attachedToTarget' && method !== 'Target.detachedFromTarget') return;
    const { sessionId } = fieldsOf<Protocol.Target.AttachedToTargetEvent>(message.params);
    const session = this.#model.session(sessionId);
    if (method === 'Target.attachedToTarget') {
      if (!session) return;
      session.isShown = true;
      for (const listener of this.#whenShown) listener(session);
      return;
    }
    const over = session ? withDescendants(session) : [];
    for (const each of over) each.isShown = false;
    this.#ends.ended([String(sessionId), ...over.map(({ id }) => id)]);
  }

  #deliverNext(): void {
    setImmediate(() => {
      const [next] = this.#queue;
      if (next) this.#deliver(next);
      this.#queue.shift();
      if (this.#queue.length > 0) this.#deliverNext();
    });
  }

  #judge(session: Session): void {
    const { target, parent } = session;
    if (target.type === 'browser' && !parent && this.#isNextOurs()) {
      session.veil = OURS_WITH_PAGES;
      return;
    }
    session.veil = this.#claimed.delete(target.id) ? OURS : this.#veilOf(session);
    if (session.veil?.state !== 'ours') {
      this.#targets.delete(target.id);
      return;
    }
    session.isClients = false;
    if (!parent) this.#targets.add(target.id);
  }

  /** Whether the session on the browser that is announced now is ours: they come in the order of the commands. */
  #isNextOurs(): boolean {
    const next = [...this.#browserSessions.values()].find(({ isAnnounced }) => !isAnnounced);
    if (next) next.isAnnounced = true;
    return next?.isOurs ?? false;
  }

  /** Whether one of our sessions on the browser begins or ends. */
  #changesBrowser(): boolean {
    return [...this.#browserSessions.values()].some(({ isOurs }) => isOurs);
  }

  #veilOf(session: Session): Veil | undefined {
    const { target, parent } = session;
    let veil = parent?.veil ?? this.#contexts.get(target.contextId ?? '');
    if (!veil && !parent && this.#isRuledOut(target)) veil = OURS;
    // Only one page is held back: the client itself has opened any other page in that context.
    if (veil?.state === 'held' && target.type === 'page' && this.#hasOtherPage(session)) return undefined;
    if (veil?.state === 'ours' && !(veil.keepsPages && /^(page|browser)$/.test(target.type))) this.#ends.letGo(session);
    return veil;
  }

  #isRuledOut(target: AnnouncedTarget): boolean {
    return this.#rules.some((isOurs) => isOurs(target));
  }

  #hasOtherPage(session: Session): boolean {
    const { contextId = '' } = session.target;
    return this.#model.sessionsIn(contextId).some((other) => other !== session && other.target.type === 'page');
  }

  #veil(contextId: string, veil: Veil | undefined, which: (session: Session) => boolean = () => true): void {
    for (const session of this.#model.sessionsIn(contextId).filter(which)) {
      // Our own sessions on the same targets stay ours.
      for (const each of withDescendants(session)) if (each.veil?.state !== 'ours') each.veil = veil;
    }
  }
}

function announced({
  type,
  browserContextId,
}: Partial<Record<keyof Protocol.Target.TargetInfo, unknown>>): AnnouncedTarget {
  return { type: String(type), contextId: typeof browserContextId === 'string' ? browserContextId : undefined };
}

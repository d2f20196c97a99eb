import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../transport/message.ts';

/** A JavaScript context that the client has made for itself in a document: no page's code runs in it, nor a test's. */
export interface UtilityWorld {
  readonly sessionId: string;
  readonly contextId: number;
  /** Of the main frame of the session's target. */
  readonly isMain: boolean;
  /** What IDs of its objects begin with, and the number of the last one; once there is one. */
  prefix?: string;
  last: number;
}

/** A target's session, if it is one that the client itself works with. */
interface ClientSession {
  targetId: unknown;
  isPage: boolean;
  /** Names that the client has given to worlds of its own. */
  names: Set<string>;
  worlds: Map<number, UtilityWorld>;
  /** The client is told of every script there is: none may come that it has not sent. */
  isWatched: boolean;
  /** The initial empty document has been left. */
  hasNavigated: boolean;
}

/** What the browser says when nothing is any more as it was. */
const UPHEAVALS = new Set(['Page.javascriptDialogOpening', 'Debugger.paused', 'Inspector.targetCrashed']);

/** The worlds of the client's own in the documents that it sees, by session. Those of a test's own sessions are not among them. */
export class UtilityWorlds {
  readonly #sessions = new Map<string, ClientSession>();
  readonly #onMade: (world: UtilityWorld) => void;
  readonly #onUpheaval: (sessionId: string) => void;
  readonly #onEnd: (sessionId: string) => void;

  /**
   * @param listeners told of each new world in a document that the browser was sent to (`onMade`), when what was read in
   * a session may not be so any more (`onUpheaval`), and of each session that is over (`onEnd`)
   */
  constructor(listeners: {
    onMade?(world: UtilityWorld): void;
    onUpheaval?(sessionId: string): void;
    onEnd(sessionId: string): void;
  }) {
    this.#onMade = (world) => listeners.onMade?.(world);
    this.#onUpheaval = (sessionId) => listeners.onUpheaval?.(sessionId);
    this.#onEnd = listeners.onEnd;
  }

  /** Whether a session is the client's. */
  has(sessionId: string): boolean {
    return this.#sessions.has(sessionId);
  }

  /** Whether a session is the client's, and a page's. */
  isPage(sessionId: string): boolean {
    return this.#sessions.get(sessionId)?.isPage ?? false;
  }

  /** Whether the client is told of every script in a session, so that it would see those that are sent ahead. */
  isWatched(sessionId: string): boolean {
    return this.#sessions.get(sessionId)?.isWatched ?? false;
  }

  get(sessionId: string, contextId: unknown): UtilityWorld | undefined {
    return this.#sessions.get(sessionId)?.worlds.get(contextId as number);
  }

  /** The world that an object is of: `<isolate>.<context>.<number>`. */
  ofObject(sessionId: string, objectId: unknown): UtilityWorld | undefined {
    if (typeof objectId !== 'string') return undefined;
    const [, contextId] = objectId.split('.');
    return this.get(sessionId, Number(contextId));
  }

  /** The browser has made this object. */
  sawObject(sessionId: string, objectId: unknown): void {
    const world = this.ofObject(sessionId, objectId);
    if (!world) return;
    const end = String(objectId).lastIndexOf('.');
    world.prefix = String(objectId).slice(0, end);
    world.last = Math.max(world.last, Number(String(objectId).slice(end + 1)));
  }

  /** To be told of the client's commands. */
  onCommand({ method, params, sessionId = '' }: CdpMessage): void {
    const session = this.#sessions.get(sessionId);
    if (session && method === 'Debugger.enable') session.isWatched = true;
    if (session && method === 'Debugger.disable') session.isWatched = false;
    if (method !== 'Page.addScriptToEvaluateOnNewDocument' && method !== 'Page.createIsolatedWorld') return;
    const { worldName } = fieldsOf<Protocol.Page.CreateIsolatedWorldRequest>(params);
    if (typeof worldName === 'string' && worldName !== '') session?.names.add(worldName);
  }

  /** To be told of the browser's events. */
  onEvent({ method = '', params, sessionId }: CdpMessage): void {
    if (method === 'Target.attachedToTarget') this.#onAttached(params, sessionId);
    if (method === 'Target.detachedFromTarget') {
      this.#end(fieldsOf<Protocol.Target.DetachedFromTargetEvent>(params).sessionId);
    }
    const session = this.#sessions.get(sessionId ?? '');
    if (sessionId === undefined || !session) return;
    // Of a frame that comes or goes the client waits for what was said before: a barrier from before it is none.
    if (UPHEAVALS.has(method) || method.startsWith('Target.')) this.#onUpheaval(sessionId);
    if (method === 'Page.frameNavigated') session.hasNavigated = true;
    if (method === 'Runtime.executionContextCreated') this.#onContext(sessionId, session, params);
    if (method === 'Runtime.executionContextsCleared') {
      session.worlds.clear();
      this.#onUpheaval(sessionId);
    }
    if (method === 'Runtime.executionContextDestroyed') {
      const { executionContextId } = fieldsOf<Protocol.Runtime.ExecutionContextDestroyedEvent>(params);
      if (session.worlds.delete(executionContextId as number)) this.#onUpheaval(sessionId);
    }
  }

  #onAttached(params: unknown, parent: string | undefined): void {
    const { sessionId, targetInfo } = fieldsOf<Protocol.Target.AttachedToTargetEvent>(params);
    const { targetId, type } = fieldsOf<Protocol.Target.TargetInfo>(targetInfo);
    // What is attached to over a session that is not the client's is not the client's either.
    if (typeof sessionId !== 'string' || type === 'browser') return;
    if (parent !== undefined && !this.#sessions.has(parent)) return;
    const isPage = type === 'page';
    this.#sessions.set(sessionId, {
      targetId,
      isPage,
      names: new Set(),
      worlds: new Map(),
      isWatched: false,
      hasNavigated: false,
    });
  }

  #onContext(sessionId: string, session: ClientSession, params: unknown): void {
    const { context } = fieldsOf<Protocol.Runtime.ExecutionContextCreatedEvent>(params);
    const { id, name, auxData } = fieldsOf<Protocol.Runtime.ExecutionContextDescription>(context);
    const { isDefault, frameId } = fieldsOf<{ isDefault: boolean; frameId: string }>(auxData);
    if (typeof id !== 'number' || typeof name !== 'string' || isDefault !== false || !session.names.has(name)) return;
    const world = { sessionId, contextId: id, isMain: frameId === session.targetId, last: 0 };
    session.worlds.set(id, world);
    if (session.hasNavigated) this.#onMade(world);
  }

  #end(sessionId: unknown): void {
    if (typeof sessionId === 'string' && this.#sessions.delete(sessionId)) this.#onEnd(sessionId);
  }
}

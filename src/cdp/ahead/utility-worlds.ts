import type { Protocol } from 'devtools-protocol';
import type { BrowserModel } from '../model/browser-model.ts';
import { PerSession } from '../model/per-session.ts';
import type { Session, World } from '../model/session.ts';
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

/** What the client has done in a session of its own. */
interface ClientSession {
  /** Names that it has given to worlds. */
  readonly names: Set<string>;
  /** It is told of every script there is: none may come that it has not sent. */
  isWatched: boolean;
  /** The initial empty document has been left. */
  hasNavigated: boolean;
}

/** What the browser says when nothing is any more as it was. */
const UPHEAVALS = new Set(['Page.javascriptDialogOpening', 'Debugger.paused', 'Inspector.targetCrashed']);

/** The worlds of the client's own in the documents that it sees, by session. Those of a test's own sessions are not among them. */
export class UtilityWorlds {
  readonly #model: BrowserModel;
  readonly #sessions: PerSession<ClientSession>;
  readonly #worlds = new WeakMap<World, UtilityWorld>();
  readonly #onMade: (world: UtilityWorld) => void;
  readonly #onUpheaval: (sessionId: string) => void;

  /**
   * @param listeners told of each new world in a document that the browser was sent to (`onMade`), when what was read in
   * a session may not be so any more (`onUpheaval`), and of each session that is over (`onEnd`)
   */
  constructor(
    model: BrowserModel,
    listeners: {
      onMade?(world: UtilityWorld): void;
      onUpheaval?(sessionId: string): void;
      onEnd(sessionId: string): void;
    },
  ) {
    this.#model = model;
    this.#sessions = new PerSession(model, () => ({ names: new Set(), isWatched: false, hasNavigated: false }));
    this.#onMade = (world) => listeners.onMade?.(world);
    this.#onUpheaval = (sessionId) => listeners.onUpheaval?.(sessionId);
    model.onSessionEnd((session) => {
      if (isClients(session)) listeners.onEnd(session.id);
    });
  }

  /** Whether a session is the client's. */
  has(sessionId: string): boolean {
    const session = this.#model.session(sessionId);
    return session !== undefined && isClients(session);
  }

  /** Whether a session is the client's, and a page's. */
  isPage(sessionId: string): boolean {
    return this.has(sessionId) && this.#model.session(sessionId)?.target.type === 'page';
  }

  /** Whether the client is told of every script in a session, so that it would see those that are sent ahead. */
  isWatched(sessionId: string): boolean {
    return this.#sessions.of(sessionId)?.isWatched ?? false;
  }

  get(sessionId: string, contextId: unknown): UtilityWorld | undefined {
    const world = this.#model.session(sessionId)?.worlds.get(contextId as number);
    return world && this.#worlds.get(world);
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
    const session = this.has(sessionId) ? this.#sessions.of(sessionId) : undefined;
    if (!session) return;
    if (method === 'Debugger.enable') session.isWatched = true;
    if (method === 'Debugger.disable') session.isWatched = false;
    if (method !== 'Page.addScriptToEvaluateOnNewDocument' && method !== 'Page.createIsolatedWorld') return;
    const { worldName } = fieldsOf<Protocol.Page.CreateIsolatedWorldRequest>(params);
    if (typeof worldName === 'string' && worldName !== '') session.names.add(worldName);
  }

  /** To be told of the browser's events. */
  onEvent({ method = '', params, sessionId }: CdpMessage): void {
    const session = this.#model.session(sessionId);
    const known = this.#sessions.of(sessionId);
    if (!session || !known || !isClients(session)) return;
    // Of a frame that comes or goes the client waits for what was said before: a barrier from before it is none.
    if (UPHEAVALS.has(method) || method.startsWith('Target.')) this.#onUpheaval(session.id);
    if (method === 'Page.frameNavigated') known.hasNavigated = true;
    if (method === 'Runtime.executionContextCreated') this.#onContext(session, known, params);
    if (method === 'Runtime.executionContextsCleared') this.#onUpheaval(session.id);
    if (method === 'Runtime.executionContextDestroyed') {
      const { executionContextId } = fieldsOf<Protocol.Runtime.ExecutionContextDestroyedEvent>(params);
      if (this.get(session.id, executionContextId)) this.#onUpheaval(session.id);
    }
  }

  #onContext(session: Session, { names, hasNavigated }: ClientSession, params: unknown): void {
    const { context } = fieldsOf<Protocol.Runtime.ExecutionContextCreatedEvent>(params);
    const { id } = fieldsOf<Protocol.Runtime.ExecutionContextDescription>(context);
    const made = session.worlds.get(id as number);
    if (!made || made.isDefault || !names.has(made.name) || this.#worlds.has(made)) return;
    const isMain = made.frameId === session.target.id;
    const world: UtilityWorld = { sessionId: session.id, contextId: made.id, isMain, last: 0 };
    this.#worlds.set(made, world);
    if (hasNavigated) this.#onMade(world);
  }
}

/** What is attached to over a session that is not the client's is not the client's either. */
function isClients({ target, parent }: Session): boolean {
  return target.type !== 'browser' && target.type !== 'unknown' && (parent === undefined || isClients(parent));
}

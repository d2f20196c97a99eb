import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../message.ts';
import type { BrowserModel } from '../model/browser-model.ts';
import { PerSession } from '../model/per-session.ts';
import { worldOf } from '../model/remote-objects.ts';
import type { World } from '../model/session.ts';

/** What the client has done in a session. */
interface ClientSession {
  /** Names that it has given to worlds. */
  readonly names: Set<string>;
  /** It gets an event for every parsed script: scripts that it has not sent must not appear. */
  isWatched: boolean;
}

/**
 * The isolated worlds that the client creates in documents: code of pages or tests does not run in them. Worlds in
 * sessions that a test opens do not count.
 */
export class UtilityWorlds {
  readonly #model: BrowserModel;
  readonly #sessions: PerSession<ClientSession>;

  constructor(model: BrowserModel) {
    this.#model = model;
    this.#sessions = new PerSession(model, () => ({ names: new Set(), isWatched: false }));
  }

  /** Whether a session is the client's. */
  has(sessionId: string | undefined): boolean {
    return this.#model.session(sessionId)?.isClients ?? false;
  }

  /** Whether the client gets an event for every script in a session, and would see those that are sent early. */
  isWatched(sessionId: string): boolean {
    return this.#sessions.of(sessionId)?.isWatched ?? false;
  }

  includes({ session, isDefault, name }: World): boolean {
    return !isDefault && session.isClients && (this.#sessions.of(session.id)?.names.has(name) ?? false);
  }

  get(sessionId: string, contextId: unknown): World | undefined {
    const world = this.#model.session(sessionId)?.worlds.get(contextId as number);
    return world && this.includes(world) ? world : undefined;
  }

  ofObject(sessionId: string, objectId: unknown): World | undefined {
    const world = worldOf(this.#model.session(sessionId), objectId);
    return world && this.includes(world) ? world : undefined;
  }

  onCommand({ method, params, sessionId }: CdpMessage): void {
    const session = this.has(sessionId) ? this.#sessions.of(sessionId) : undefined;
    if (!session) return;
    if (method === 'Page.addScriptToEvaluateOnNewDocument' || method === 'Page.createIsolatedWorld') {
      const { worldName } = fieldsOf<Protocol.Page.CreateIsolatedWorldRequest>(params);
      if (typeof worldName === 'string' && worldName !== '') session.names.add(worldName);
    }
    if (method === 'Debugger.enable') session.isWatched = true;
    if (method === 'Debugger.disable') session.isWatched = false;
  }
}

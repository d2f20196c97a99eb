import type { BrowserModel } from '../model/browser-model.ts';
import type { World } from '../model/session.ts';
import type { BridgedHosts } from './bridged-hosts.ts';

/** The hosts that the page or frame of a session reaches. */
export type HostsIn = (sessionId: string) => BridgedHosts;

/** The world that the own scripts of a document of a reached host run in. */
export type BridgedDocument = World;

/**
 * The documents that a bridge may talk to. Who calls, and from where, is what the browser says: a page may say anything.
 * Empty frames have the origin of the document that opened them; what has an origin of its own kind (sandboxed, `data:`)
 * is of no host, and so are the worlds of extensions.
 */
export class BridgedDocuments {
  readonly #model: BrowserModel;
  readonly #hostsIn: HostsIn;

  constructor(model: BrowserModel, hostsIn: HostsIn) {
    this.#model = model;
    this.#hostsIn = hostsIn;
  }

  /** The document whose script called. */
  calling(sessionId: string, contextId: unknown): BridgedDocument | undefined {
    return this.#bridged(this.#model.session(sessionId)?.worlds.get(contextId as number));
  }

  /** The document that is in a frame now. */
  inFrame(sessionId: string, frameId: string | undefined): BridgedDocument | undefined {
    return this.#bridged(this.#model.mainWorld(this.#model.session(sessionId), frameId));
  }

  #bridged(world: World | undefined): BridgedDocument | undefined {
    return world?.isDefault && this.#hostsIn(world.session.id).matches(world.origin) ? world : undefined;
  }
}

import type { Protocol } from 'devtools-protocol';
import * as v from 'valibot';
import { type CdpMessage, fieldsOf } from '../transport/message.ts';
import type { BridgedHosts } from './bridged-hosts.ts';

/** The hosts that the page or frame of a session reaches. */
export type HostsIn = (sessionId: string) => BridgedHosts;

/** A document of a reached host: the world that its own scripts run in, as the browser tells of it. */
export interface BridgedDocument {
  readonly sessionId: string;
  /** Unique in its process; another document may have it after a page went over to another process. */
  readonly contextId: number;
  /** Unique for good: what is said to it reaches no other. */
  readonly uniqueContextId: string;
  readonly frameId: string;
  readonly origin: string;
}

const created = v.looseObject({
  context: v.looseObject({
    id: v.pipe(v.number(), v.integer()),
    uniqueId: v.string(),
    origin: v.string(),
    auxData: v.looseObject({ isDefault: v.boolean(), frameId: v.string() }),
  }),
});

/**
 * The documents that a bridge may talk to. Who calls, and from where, is what the browser says: a page may say anything.
 * Empty frames have the origin of the document that opened them; what has an origin of its own kind (sandboxed, `data:`)
 * is of no host, and so are the worlds of extensions.
 */
export class BridgedDocuments {
  readonly #hostsIn: HostsIn;
  readonly #whenGone: (document: BridgedDocument) => void;
  readonly #documents = new Map<string, BridgedDocument>();

  /** @param whenGone is called for each document that ends */
  constructor(hostsIn: HostsIn, whenGone: (document: BridgedDocument) => void) {
    this.#hostsIn = hostsIn;
    this.#whenGone = whenGone;
  }

  /** The document whose script called. */
  calling(sessionId: string, contextId: unknown): BridgedDocument | undefined {
    return this.#documents.get(`${sessionId} ${contextId}`);
  }

  /** The document that is in a frame now. */
  inFrame(sessionId: string, frameId: string | undefined): BridgedDocument | undefined {
    let last: BridgedDocument | undefined;
    for (const document of this.#documents.values()) {
      if (document.sessionId === sessionId && document.frameId === frameId) last = document;
    }
    return last;
  }

  /** To be told of the browser's messages to sessions that are bridged. */
  observe({ method, sessionId, params }: CdpMessage): void {
    if (sessionId === undefined || !method?.startsWith('Runtime.executionContext')) return;
    if (method === 'Runtime.executionContextCreated') this.#meet(sessionId, params);
    if (method === 'Runtime.executionContextsCleared') this.leave(sessionId);
    if (method !== 'Runtime.executionContextDestroyed') return;
    const { executionContextId } = fieldsOf<Protocol.Runtime.ExecutionContextDestroyedEvent>(params);
    const document = this.calling(sessionId, executionContextId);
    if (document) this.#end(document);
  }

  /** A page, or all of them, are gone. */
  leave(sessionId?: string): void {
    for (const document of [...this.#documents.values()]) {
      if (sessionId === undefined || document.sessionId === sessionId) this.#end(document);
    }
  }

  #meet(sessionId: string, params: unknown): void {
    const { success, output: data } = v.safeParse(created, params);
    if (!success) return;
    const { id: contextId, uniqueId: uniqueContextId, origin, auxData } = data.context;
    const { isDefault, frameId } = auxData;
    if (!isDefault || !this.#hostsIn(sessionId).matches(origin)) return;
    // A test's own session that begins to follow them, and a client that does so anew, have each reported again.
    if (this.calling(sessionId, contextId)?.uniqueContextId === uniqueContextId) return;
    this.#documents.set(`${sessionId} ${contextId}`, { sessionId, contextId, uniqueContextId, frameId, origin });
  }

  #end(document: BridgedDocument): void {
    this.#documents.delete(`${document.sessionId} ${document.contextId}`);
    this.#whenGone(document);
  }
}

import type { BrowserModel } from '../../model/browser-model.ts';
import { mainWorldOf } from '../../model/frames.ts';
import { PerSession } from '../../model/per-session.ts';
import type { Session, World } from '../../model/session.ts';
import { originOf } from '../hosts/proxied-hosts.ts';
import type { NetworkPolicy } from '../policy/network-policy.ts';
import { isWorker, type ProxiedTargets } from '../request/proxied-targets.ts';

/** The main world of a document of a proxied host, or a worker of one. */
export type ProxiedDocument = Pick<World, 'session' | 'uniqueId' | 'origin' | 'frameId'>;

/**
 * The documents that a proxy may talk to. The browser reports which document calls: a page's own claims are not
 * trusted. Empty frames have their opener's origin. Documents with an opaque origin (sandboxed, `data:`) belong to no
 * host; of those, a page that a test has opened and filled itself may open WebSockets to hosts that every page reaches.
 * Extensions' worlds may do nothing.
 */
export class ProxiedDocuments {
  readonly #model: BrowserModel;
  readonly #targets: ProxiedTargets;
  readonly #policy: NetworkPolicy;
  /** A worker has one world, and the browser reports its origin with its target. */
  readonly #workers: PerSession<ProxiedDocument>;

  constructor(model: BrowserModel, targets: ProxiedTargets, policy: NetworkPolicy) {
    this.#model = model;
    this.#targets = targets;
    this.#policy = policy;
    this.#workers = new PerSession(model, (session) => {
      const { id: uniqueId, target } = session;
      return { session, uniqueId, origin: originOf(target.url) ?? '', frameId: undefined };
    });
  }

  worker({ id }: Session): ProxiedDocument {
    return this.#workers.of(id) as ProxiedDocument;
  }

  /** The document whose script called the binding. */
  calling(sessionId: string, contextId: unknown): ProxiedDocument | undefined {
    const session = this.#model.session(sessionId);
    const worker = session && isWorker(session) ? this.#workers.of(sessionId) : undefined;
    const world = session?.worlds.get(contextId as number);
    if (worker) return this.#isProxied(worker) ? worker : undefined;
    return this.#proxied(world) ?? (world?.isDefault && this.#hasNoOrigin(world) ? world : undefined);
  }

  /** The current document of a frame. */
  inFrame(sessionId: string, frameId: string | undefined): ProxiedDocument | undefined {
    return this.#proxied(mainWorldOf(this.#model.session(sessionId), frameId));
  }

  /** Whether a document or worker may open a WebSocket to an address. */
  mayConnect(document: ProxiedDocument, url: string): boolean {
    const { session, origin } = document;
    const target = this.#targets.serving(session);
    if (!target || (originOf(origin) === null && !isOfTest(document))) return false;
    return this.#policy.mayConnect(target, origin, url);
  }

  /** Whether a document belongs to no host, while there are hosts that every page reaches. */
  #hasNoOrigin({ session, origin }: World): boolean {
    return originOf(origin) === null && this.#policy.listsHosts && this.#targets.serving(session) !== undefined;
  }

  #proxied(world: World | undefined): ProxiedDocument | undefined {
    return world?.isDefault && this.#isProxied(world) ? world : undefined;
  }

  #isProxied({ session, origin }: Pick<ProxiedDocument, 'session' | 'origin'>): boolean {
    const target = this.#targets.serving(session);
    return target !== undefined && this.#policy.hostsOf(target).matches(origin);
  }
}

/** Whether a document is a page of the test's: no page from elsewhere has made it, or can reach it. */
function isOfTest({ session, frameId }: ProxiedDocument): boolean {
  const { id, type, openerId, hasBeenElsewhere } = session.target;
  return type === 'page' && id === frameId && openerId === undefined && !hasBeenElsewhere;
}

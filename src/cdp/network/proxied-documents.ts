import type { BrowserModel } from '../model/browser-model.ts';
import { mainWorldOf } from '../model/frames.ts';
import type { World } from '../model/session.ts';
import type { ProxiedHosts } from './proxied-hosts.ts';
import type { ProxiedTarget, ProxiedTargets } from './proxied-targets.ts';

/** The main world of a document of a proxied host. */
export type ProxiedDocument = World;

/**
 * The documents that a proxy may talk to. The browser reports which document calls: a page's own claims are not
 * trusted. Empty frames have their opener's origin. Documents with an opaque origin (sandboxed, `data:`) belong to no
 * host, and neither do extensions' worlds.
 */
export class ProxiedDocuments {
  readonly #model: BrowserModel;
  readonly #targets: ProxiedTargets;
  readonly #hostsOf: (target: ProxiedTarget) => ProxiedHosts;

  constructor(model: BrowserModel, targets: ProxiedTargets, hostsOf: (target: ProxiedTarget) => ProxiedHosts) {
    this.#model = model;
    this.#targets = targets;
    this.#hostsOf = hostsOf;
  }

  /** The document whose script called the binding. */
  calling(sessionId: string, contextId: unknown): ProxiedDocument | undefined {
    return this.#proxied(this.#model.session(sessionId)?.worlds.get(contextId as number));
  }

  /** The current document of a frame. */
  inFrame(sessionId: string, frameId: string | undefined): ProxiedDocument | undefined {
    return this.#proxied(mainWorldOf(this.#model.session(sessionId), frameId));
  }

  /** Whether a document may reach an address. */
  mayReach({ session }: ProxiedDocument, url: string): boolean {
    const target = this.#targets.get(session.id);
    return target !== undefined && this.#hostsOf(target).matches(url);
  }

  #proxied(world: World | undefined): ProxiedDocument | undefined {
    return world?.isDefault && this.mayReach(world, world.origin) ? world : undefined;
  }
}

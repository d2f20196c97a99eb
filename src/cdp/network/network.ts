import type { Protocol } from 'devtools-protocol';
import type { Dial } from '../../common/dial/dial.ts';
import { ProxiedDownloads } from '../files/proxied-downloads.ts';
import { type CdpMessage, fieldsOf } from '../message.ts';
import type { Interceptor, InterceptorFactory, InterceptorTransport } from '../transport/interceptor.ts';
import type { PendingCommand } from '../transport/pending-commands.ts';
import type { ProxiedHosts } from './hosts/proxied-hosts.ts';
import type { NetworkProxy } from './network-proxy.ts';
import { PageBinding } from './page-binding/page-binding.ts';
import { ProxiedDocuments } from './page-binding/proxied-documents.ts';
import { NetworkPolicy, type PolicyEvents } from './policy/network-policy.ts';
import { type ProxiedTarget, ProxiedTargets } from './request/proxied-targets.ts';
import { ContextProxies, type OriginsOfProxy } from './send/context-proxy/context-proxies.ts';
import type { ProxiedTraffic } from './send/proxied-traffic.ts';

/** What pages reach through this machine. */
export interface NetworkOptions {
  /** Hosts that every page reaches. Default: none. */
  proxiedHosts?: ProxiedHosts | undefined;
  /** Set if pages of this machine that the test visits reach it, too. */
  auto?: PolicyEvents | undefined;
  /** Counts what they send and receive. */
  traffic?: ProxiedTraffic | undefined;
  /** Connects to servers from another machine. Files are not read then. Default: connections start on this machine. */
  dial?: Dial | undefined;
  /** The origins that need a context's proxy, if it is the client's own. Default: all proxies are the test's. */
  originsOfProxy?: OriginsOfProxy;
  /** Takes downloads that need not go through the browser. Without it, the browser gets all of them. */
  downloads?: ProxiedDownloads;
}

interface NetworkInterceptor {
  create: InterceptorFactory;
  /** Whether requests to an address are made from this machine. */
  proxies(url: string): boolean;
}

const NONE: ProxiedHosts = { matches: () => false, urlPatterns: [], hostExpressions: [] };

/** Commands that start or end a navigation of a page. */
const NAVIGATIONS = new Set(['Page.navigate', 'Page.reload', 'Page.navigateToHistoryEntry', 'Page.stopLoading']);

/** Null if nothing is proxied. Loads the proxy now if it is certainly needed: its libraries take time to load. */
export async function networkInterceptor(options: NetworkOptions): Promise<NetworkInterceptor | null> {
  if (!options.proxiedHosts && !options.auto) return null;
  const loaded = options.proxiedHosts ? await loadProxy() : undefined;
  let made: Network | undefined;
  return {
    create: (transport) => {
      made = new Network(transport, options, loaded);
      return made;
    },
    proxies: (url) => made?.policy.reachesAnywhere(url) ?? false,
  };
}

async function loadProxy(): Promise<typeof NetworkProxy> {
  return (await import('./network-proxy.ts')).NetworkProxy;
}

/**
 * Makes pages' requests from this machine, as {@link NetworkPolicy} decides. If no host is listed, the proxy loads when
 * the runner first visits an address that needs it: most suites never do.
 */
export class Network implements Interceptor {
  readonly policy: NetworkPolicy;
  readonly #transport: InterceptorTransport;
  readonly #options: NetworkOptions;
  readonly #targets: ProxiedTargets;
  readonly #proxies: ContextProxies;
  readonly #documents: ProxiedDocuments;
  readonly #binding: PageBinding;
  /** The last navigation that waits, by its page. */
  readonly #led = new Map<ProxiedTarget, Promise<void>>();
  #proxy: NetworkProxy | null;

  constructor(transport: InterceptorTransport, options: NetworkOptions, loaded?: typeof NetworkProxy) {
    this.#transport = transport;
    this.#options = options;
    this.#targets = new ProxiedTargets(transport.model, (target, url) => {
      this.policy.begin(target, url);
      this.#proxy?.begin(target);
    });
    const { proxiedHosts = NONE, auto, dial, originsOfProxy = () => null } = options;
    this.#proxies = new ContextProxies(originsOfProxy);
    // Files of this machine are not those of the test, if its servers are on another one.
    const [targets, proxies, hasFiles] = [this.#targets, this.#proxies, dial === undefined];
    this.policy = new NetworkPolicy(transport, { targets, listed: proxiedHosts, proxies, events: auto, hasFiles });
    this.#documents = new ProxiedDocuments(transport.model, this.#targets, this.policy);
    this.#binding = new PageBinding(transport, this.#documents, proxiedHosts.hostExpressions);
    this.#proxy = loaded ? this.#make(loaded) : null;
  }

  onCommand(command: CdpMessage): CdpMessage | null {
    this.#targets.observeCommand(command);
    this.policy.observeCommand(command);
    this.#comeFirst(command);
    if (this.#leads(command)) return null;
    const sent = this.#proxies.onCommand(command);
    if (!this.#proxy && this.#proxies.areHere) {
      // Its context needs it from the first page on.
      void this.#loaded().finally(() => this.#transport.pass(sent));
      return null;
    }
    return this.#proxy ? this.#proxy.onCommand(sent) : sent;
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    this.#targets.observe(message);
    this.policy.observe(message);
    this.#proxies.observe(message);
    return this.#proxy ? this.#proxy.onMessage(message) : message;
  }

  end(): void {
    this.#proxy?.end();
    this.#proxies.end();
  }

  /** A script of the test may replace the same functions as ours, which must be there first, even before any visit. */
  #comeFirst({ method, sessionId, params }: CdpMessage): void {
    if (!this.#options.auto || method !== 'Page.addScriptToEvaluateOnNewDocument') return;
    const { source, worldName } = fieldsOf<Protocol.Page.AddScriptToEvaluateOnNewDocumentRequest>(params);
    const target = worldName || !source ? undefined : this.#targets.of(sessionId);
    if (target?.isDocument) void this.#binding.install(target, this.policy.candidatesOf(target), false);
  }

  /**
   * Whether a navigation of the test waits until the browser knows what is proxied for it. Those behind it in the same
   * page wait, too: the last one must win.
   */
  #leads(command: CdpMessage): boolean {
    if (!NAVIGATIONS.has(String(command.method))) return false;
    const target = this.#targets.of(command.sessionId);
    const visited = this.policy.visit(command);
    const before = target && this.#led.get(target);
    const isUnprepared = visited !== null && this.#proxy?.isPrepared(visited) !== true;
    if (!target || (!before && !isUnprepared)) return false;
    if (!before) this.#endEarlier(command);
    const led = this.#lead(command, isUnprepared ? visited : null, before).finally(() => {
      if (this.#led.get(target) === led) this.#led.delete(target);
    });
    this.#led.set(target, led);
    return true;
  }

  /** Never rejects. @param before the navigation that it waits for */
  async #lead(command: CdpMessage, visited: ProxiedTarget | null, before: Promise<void> | undefined): Promise<void> {
    try {
      if (visited) {
        const proxy = await this.#loaded();
        await proxy.extend(visited);
      }
      await before;
    } finally {
      // Without the proxy, the browser makes the request itself.
      this.#transport.pass(command);
    }
  }

  /**
   * A navigation ends an earlier one of its page. One that waits would do that too late: the browser gives a page no
   * commands while it is navigating, and the earlier document could come meanwhile.
   */
  #endEarlier({ id, sessionId, params }: CdpMessage): void {
    const { frameId } = fieldsOf<Protocol.Page.NavigateRequest>(params);
    const page = this.#transport.model.session(sessionId)?.target.id;
    if (frameId !== undefined && frameId !== page) return;
    const isEarlier = (command: PendingCommand) =>
      command.method === 'Page.navigate' && command.sessionId === sessionId && command.id !== id;
    if (this.#transport.isPending(isEarlier)) this.#transport.post('Page.stopLoading', {}, sessionId);
  }

  async #loaded(): Promise<NetworkProxy> {
    const Loaded = await loadProxy();
    this.#proxy ??= this.#make(Loaded);
    return this.#proxy;
  }

  #make(Loaded: typeof NetworkProxy): NetworkProxy {
    const { traffic, downloads = new ProxiedDownloads(), dial } = this.#options;
    return new Loaded(this.#transport, {
      targets: this.#targets,
      policy: this.policy,
      proxies: this.#proxies,
      documents: this.#documents,
      binding: this.#binding,
      traffic,
      dial,
      downloads,
    });
  }
}

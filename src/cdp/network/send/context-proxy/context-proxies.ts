import type { Protocol } from 'devtools-protocol';
import { isLoopbackHost } from '../../../../common/url/loopback.ts';
import { type CdpMessage, fieldsOf } from '../../../message.ts';
import { ContextProxy, proxyServer } from './context-proxy.ts';

/**
 * A proxy that a remote browser never connects to. One of this machine has an address that means another server there.
 */
const UNREACHABLE = 'http://proxy-of-the-test-machine.invalid:1';

/**
 * The origins that need a proxy on this machine which is the client's own: Playwright has one for a context with client
 * certificates. Null for a proxy that the test named.
 */
export type OriginsOfProxy = (server: string) => readonly string[] | null;

/**
 * The proxies of browser contexts: the requests that this machine makes for a context go through them, too. A remote
 * browser cannot reach a proxy on this machine, so this machine makes all requests that go through it: all of the
 * context, or those to the origins that need the client's own proxy. What it does not make fails as if the proxy did
 * not respond, or is made by the browser if the proxy is the client's own.
 */
export class ContextProxies {
  readonly #originsOf: OriginsOfProxy;
  readonly #byContext = new Map<string, ContextProxy>();
  /** Of contexts that are being created, by the ID of the command. */
  readonly #coming = new Map<number, ContextProxy>();

  constructor(originsOf: OriginsOfProxy) {
    this.#originsOf = originsOf;
  }

  /** Whether a context, also one that is being created, reaches hosts only because its proxy is here. */
  get areHere(): boolean {
    return [...this.#coming.values(), ...this.#byContext.values()].some(({ hosts }) => hosts !== undefined);
  }

  /** Whether requests of any context to an address are made here because of its proxy. */
  reach(url: string): boolean {
    return [...this.#byContext.values()].some(({ hosts }) => hosts?.matches(url));
  }

  of(contextId: string | undefined): ContextProxy | undefined {
    return contextId === undefined ? undefined : this.#byContext.get(contextId);
  }

  /** Returns a command as the browser gets it. */
  onCommand(command: CdpMessage): CdpMessage {
    const { id, method, params, sessionId } = command;
    if (sessionId !== undefined || id === undefined) return command;
    if (method === 'Target.disposeBrowserContext') {
      this.#byContext.delete(String(fieldsOf<Protocol.Target.DisposeBrowserContextRequest>(params).browserContextId));
    }
    if (method !== 'Target.createBrowserContext') return command;
    const {
      proxyServer: text,
      proxyBypassList,
      ...others
    } = fieldsOf<Protocol.Target.CreateBrowserContextRequest>(params);
    const server = typeof text === 'string' ? proxyServer(text) : null;
    if (!server) return command;
    const isHere = isLoopbackHost(server.host);
    const origins = isHere ? this.#originsOf(String(text)) : null;
    this.#coming.set(id, new ContextProxy(server, String(proxyBypassList ?? ''), origins ?? isHere));
    if (!isHere) return command;
    if (origins) return { ...command, params: others };
    return { ...command, params: { ...fieldsOf(params), proxyServer: UNREACHABLE } };
  }

  /** Takes messages from the browser. */
  observe({ id, sessionId, result }: CdpMessage): void {
    if (id === undefined || sessionId !== undefined) return;
    const proxy = this.#coming.get(id);
    if (!proxy) return;
    this.#coming.delete(id);
    const { browserContextId } = fieldsOf<Protocol.Target.CreateBrowserContextResponse>(result);
    if (typeof browserContextId === 'string') this.#byContext.set(browserContextId, proxy);
  }

  end(): void {
    for (const { connections } of this.#byContext.values()) connections?.close();
  }
}

import type { Protocol } from 'devtools-protocol';
import { isLoopbackHost } from '../../../common/url/loopback.ts';
import { type CdpMessage, fieldsOf } from '../../message.ts';
import { ContextProxy, proxyServer } from './context-proxy.ts';

/**
 * A proxy that a remote browser never connects to. One of this machine has an address that means another server there.
 */
const UNREACHABLE = 'http://proxy-of-the-test-machine.invalid:1';

/** Whether a proxy on this machine is the client's own, and not one that the test named. */
export type IsClientsProxy = (server: string) => boolean;

/**
 * The proxies of browser contexts: the requests that this machine makes for a context go through them, too. A remote
 * browser cannot reach a proxy on this machine. For hosts that are not proxied, requests fail there as if the proxy did
 * not respond, unless the proxy is the client's own: Playwright has one for a context with client certificates.
 */
export class ContextProxies {
  readonly #isClients: IsClientsProxy;
  readonly #byContext = new Map<string, ContextProxy>();
  /** Of contexts that are being created, by the ID of the command. */
  readonly #coming = new Map<number, ContextProxy>();

  constructor(isClients: IsClientsProxy) {
    this.#isClients = isClients;
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
    this.#coming.set(id, new ContextProxy(server, String(proxyBypassList ?? '')));
    if (!isLoopbackHost(server.host)) return command;
    if (this.#isClients(String(text))) return { ...command, params: others };
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

  /** Closes all connections. */
  end(): void {
    for (const { connections } of this.#byContext.values()) connections?.close();
  }
}

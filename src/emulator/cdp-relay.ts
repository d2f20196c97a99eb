import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { DevToolsAddress } from './browser/browser-process.ts';
import { befall, befallAfter, type LinkCutter } from './faults/browser-fault.ts';
import type { FaultList, Firing } from './faults/fault-list.ts';
import { browserFault } from './faults/fault-rule.ts';
import { spoilHandshake } from './faults/handshake-fault.ts';
import { HOST_REFUSED, type HostCheck } from './host-check.ts';
import type { BrowserSession } from './state/browser-session.ts';
import type { EmulatorState } from './state/emulator-state.ts';
import { Wire } from './wire.ts';

/** Hop headers and what Chromium must not see: it judges Host and Origin, and the key is none of its business. */
const DROPPED = new Set(['host', 'origin', 'authorization', 'cookie']);
const REFUSALS = { 403: 'Forbidden', 404: 'Not Found', 410: 'Gone' } as const;

export interface RelayOptions {
  /** Round-trip time of the links, in ms. */
  rtt: number;
  faults: FaultList;
  isKnownHost: HostCheck;
  log: (line: string) => void;
}

/** Joins clients' CDP sockets to Chromium's. After the upgrade it only moves bytes: no frame is read or rewritten. */
export class CdpRelay implements LinkCutter {
  readonly #state: EmulatorState;
  readonly #options: RelayOptions;
  /** Sockets whose handshake a fault holds up. */
  readonly #held = new Set<Duplex>();
  /** Clients' sockets, with the session that each is joined to. */
  readonly #sockets = new Map<Duplex, BrowserSession>();

  constructor(state: EmulatorState, options: RelayOptions) {
    this.#state = state;
    this.#options = options;
  }

  /** Handler of the HTTP server's `upgrade` event. */
  handleUpgrade(request: IncomingMessage, client: Duplex, head: Buffer): void {
    client.on('error', () => client.destroy());
    if (!this.#options.isKnownHost(request.headers.host)) {
      refuse(client, 403, HOST_REFUSED);
      return;
    }
    const firing = this.#options.faults.take('GET', pathOf(request));
    if (firing) void this.#spoil(firing, request, client, head);
    else this.#join(request, client, head);
  }

  async #spoil(firing: Firing, request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    const { effect, id } = firing;
    const { log } = this.#options;
    log(`fault ${id}: handshake of a CDP link`);
    this.#held.add(client);
    client.once('close', () => this.#held.delete(client));
    if (!(await spoilHandshake(firing, client))) return;
    this.#held.delete(client);
    const session = this.#join(request, client, head);
    const fault = browserFault(effect);
    if (!fault) return;
    if (session) befallAfter(effect.afterMs ?? 0, () => befall(session, fault, this), log);
    else firing.takeBack();
  }

  /** The answer is the session that the client is joined to. */
  #join(request: IncomingMessage, client: Duplex, head: Buffer): BrowserSession | undefined {
    const token = /^\/cdp\/([\w-]+)$/.exec(pathOf(request))?.[1];
    const session = token === undefined ? undefined : this.#state.sessionByCdpToken(token);
    if (!session) refuse(client, 404, 'There is no browser at this address');
    else if (!session.isLive) refuse(client, 410, 'The session has ended');
    else if (!session.devtools) refuse(client, 403, 'The session is still starting');
    else {
      this.#splice(request, client as Socket, head, session, session.devtools);
      return session;
    }
    return undefined;
  }

  closeAll(): void {
    for (const socket of [...this.#sockets.keys(), ...this.#held]) socket.destroy();
  }

  cut(session: BrowserSession): void {
    for (const [socket, of] of this.#sockets) if (of === session) socket.destroy();
  }

  #splice(request: IncomingMessage, client: Socket, head: Buffer, session: BrowserSession, to: DevToolsAddress): void {
    const upstream = connect({ port: to.port, host: '127.0.0.1', noDelay: true });
    client.setNoDelay(true);
    client.setTimeout(0);
    const close = () => {
      client.destroy();
      upstream.destroy();
    };
    const unsubscribe = session.onEnd(close);
    this.#sockets.set(client, session);
    const oneWay = this.#options.rtt / 2;
    const [up, down] = [new Wire(client, upstream, oneWay), new Wire(upstream, client, oneWay)];
    client.once('close', () => {
      unsubscribe();
      this.#sockets.delete(client);
      up.after(() => upstream.destroy());
    });
    upstream.on('error', close);
    // Chromium's end after its last byte: what it sent before still goes out.
    upstream.once('close', () => down.after(() => client.destroySoon()));
    up.send(Buffer.concat([Buffer.from(requestHead(request, to)), head]));
  }
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?')[0] ?? '';
}

function requestHead(request: IncomingMessage, { path, port }: DevToolsAddress): string {
  const lines = [`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`];
  const { rawHeaders } = request;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (!DROPPED.has(name.toLowerCase())) lines.push(`${name}: ${rawHeaders[index + 1]}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function refuse(client: Duplex, status: keyof typeof REFUSALS, text: string): void {
  client.end(
    `HTTP/1.1 ${status} ${REFUSALS[status]}\r\nContent-Type: text/plain\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`,
    () => client.destroy(),
  );
}

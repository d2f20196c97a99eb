import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { DevToolsAddress } from './browser/browser-process.ts';
import type { BrowserSession } from './state/browser-session.ts';
import type { EmulatorState } from './state/emulator-state.ts';

/** Hop headers and what Chromium must not see: it judges Host and Origin, and the key is none of its business. */
const DROPPED = new Set(['host', 'origin', 'authorization', 'cookie']);
const REFUSALS = { 403: 'Forbidden', 404: 'Not Found', 410: 'Gone' } as const;

/** Joins clients' CDP sockets to Chromium's. After the upgrade it only moves bytes: no frame is read or rewritten. */
export class CdpRelay {
  readonly #state: EmulatorState;
  /** Clients' sockets, with the session that each is joined to. */
  readonly #sockets = new Map<Duplex, BrowserSession>();

  constructor(state: EmulatorState) {
    this.#state = state;
  }

  /** Handler of the HTTP server's `upgrade` event. */
  handleUpgrade(request: IncomingMessage, client: Duplex, head: Buffer): void {
    client.on('error', () => client.destroy());
    const token = /^\/cdp\/([\w-]+)$/.exec((request.url ?? '').split('?')[0] ?? '')?.[1];
    const session = token === undefined ? undefined : this.#state.sessionByCdpToken(token);
    if (!session) refuse(client, 404, 'There is no browser at this address');
    else if (!session.isLive) refuse(client, 410, 'The session has ended');
    else if (!session.devtools) refuse(client, 403, 'The session is still starting');
    else this.#splice(request, client as Socket, head, session, session.devtools);
  }

  closeAll(): void {
    for (const socket of this.#sockets.keys()) socket.destroy();
  }

  /** A fault: breaks the links of a session that are open now, without a close frame. */
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
    client.once('close', () => {
      unsubscribe();
      this.#sockets.delete(client);
      upstream.destroy();
    });
    upstream.on('error', close);
    // Chromium's end after its last byte: what it sent before still goes out.
    upstream.once('close', () => client.destroySoon());
    upstream.write(requestHead(request, to));
    if (head.length > 0) upstream.write(head);
    upstream.pipe(client);
    client.pipe(upstream);
  }
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

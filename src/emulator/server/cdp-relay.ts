import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocketServer } from 'ws';
import { writeTogether } from '../../common/platform/streams.ts';
import { LinkDirection } from '../cdp/link-direction.ts';
import { browserFault } from '../fault-rule.ts';
import type { FaultList, Firing } from '../faults/fault-list.ts';
import { HOST_REFUSED, type HostCheck } from '../host-check.ts';
import type { RunningBrowser } from '../running-browser.ts';
import type { BrowserSession } from '../state/browser-session.ts';
import type { EmulatorState } from '../state/emulator-state.ts';
import { applyFault, applyFaultAfter, type LinkCutter } from './faults.ts';

/** As large as Chromium's own server takes. */
const MAX_MESSAGE_BYTES = 256 * 1024 ** 2;
const REFUSALS = { 403: 'Forbidden', 404: 'Not Found', 410: 'Gone' } as const;

export interface RelayOptions {
  /** Round-trip time of the links, in ms. */
  rtt: number;
  faults: FaultList;
  isKnownHost: HostCheck;
  log: (line: string) => void;
}

/** Joins clients' CDP sockets to browsers. */
export class CdpRelay implements LinkCutter {
  readonly #state: EmulatorState;
  readonly #options: RelayOptions;
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
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
    if (session) applyFaultAfter(effect.afterMs ?? 0, () => applyFault(session, fault, this), log);
    else firing.takeBack();
  }

  #join(request: IncomingMessage, client: Duplex, head: Buffer): BrowserSession | undefined {
    const token = /^\/cdp\/([\w-]+)$/.exec(pathOf(request))?.[1];
    const session = token === undefined ? undefined : this.#state.sessionByCdpToken(token);
    if (!session) refuse(client, 404, 'There is no browser at this address');
    else if (!session.isLive) refuse(client, 410, 'The session has ended');
    else if (!session.browser) refuse(client, 403, 'The session is still starting');
    else {
      void this.#admit(request, client, head, session, session.browser);
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

  async #admit(
    request: IncomingMessage,
    client: Duplex,
    head: Buffer,
    session: BrowserSession,
    browser: RunningBrowser,
  ): Promise<void> {
    this.#sockets.set(client, session);
    const unsubscribe = session.onEnd(() => client.destroy());
    client.once('close', () => {
      unsubscribe();
      this.#sockets.delete(client);
    });
    const oneWay = this.#options.rtt / 2;
    if (oneWay > 0) await delay(oneWay, undefined, { ref: false });
    const seat = await browser.reserve().catch(() => undefined);
    if (!seat || client.destroyed) {
      seat?.leave();
      client.destroy();
      return;
    }
    const socket = oneWay > 0 ? farEnd(client, head, oneWay) : client;
    socket.once('close', () => seat.leave());
    this.#server.handleUpgrade(request, socket as Socket, oneWay > 0 ? Buffer.alloc(0) : head, (link) => {
      const browserEnd = seat.take({
        send: (message) => {
          writeTogether(socket);
          link.send(message, { binary: false });
        },
        end: () => ('destroySoon' in socket ? (socket as Socket).destroySoon() : socket.end()),
        pause: () => link.pause(),
        resume: () => link.resume(),
      });
      link.on('error', () => link.terminate());
      link.on('message', (data, isBinary) => {
        // As Chromium's own server does.
        if (isBinary) link.terminate();
        else browserEnd.receive(data as Buffer); // of the type that is set by default
      });
    });
  }
}

/** The other end of a line of some length to this socket. */
function farEnd(client: Duplex, head: Buffer, oneWay: number): Duplex {
  const [near, far] = duplexPair();
  const [up, down] = [new LinkDirection(client, near, oneWay), new LinkDirection(near, client, oneWay)];
  client.once('close', () => up.after(() => far.destroy()));
  far.on('error', () => undefined);
  // The browser's end after its last byte: what it sent before still goes out.
  far.once('close', () => down.after(() => client.destroy()));
  if (head.length > 0) up.send(head);
  return far;
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?')[0] ?? '';
}

function refuse(client: Duplex, status: keyof typeof REFUSALS, text: string): void {
  client.end(
    `HTTP/1.1 ${status} ${REFUSALS[status]}\r\nContent-Type: text/plain\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`,
    () => client.destroy(),
  );
}

/** Applies a fault to the handshake of a CDP link. Returns whether the handshake goes on. */
async function spoilHandshake({ effect, id }: Firing, client: Duplex): Promise<boolean> {
  if (effect.delayMs) await delay(effect.delayMs, undefined, { ref: false });
  if (effect.hang) return false; // until the client gives up, or the relay closes it
  if (effect.reset || effect.loseAnswer) {
    if (client instanceof Socket) client.resetAndDestroy();
    return false;
  }
  if (effect.status === undefined) return !client.destroyed;
  const { body = `Fault ${id} of the emulator`, headers = {}, status } = effect;
  const content = typeof body === 'string' ? body : JSON.stringify(body);
  const lines = Object.entries({ Connection: 'close', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = Buffer.byteLength(content);
  client.end(`HTTP/1.1 ${status} Fault\r\nContent-Length: ${length}\r\n${lines.join('')}\r\n${content}`);
  return false;
}

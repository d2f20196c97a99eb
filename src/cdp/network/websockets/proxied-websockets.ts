import * as v from 'valibot';
import type { RawData, WebSocket } from 'ws';
import { errorMessage } from '../../../common/error-message.ts';
import type { InterceptorTransport } from '../../transport/interceptor.ts';
import type { ContextProxies } from '../context-proxy/context-proxies.ts';
import { dialThrough } from '../context-proxy/tunnel.ts';
import type { PageBinding } from '../page-binding.ts';
import type { ProxiedDocument, ProxiedDocuments } from '../proxied-documents.ts';
import type { ProxiedTargets } from '../proxied-targets.ts';
import type { ProxiedTraffic } from '../proxied-traffic.ts';
import type { Dial } from '../proxy/dial.ts';
import { wireText } from '../proxy/headers/header-bytes.ts';
import { openWebSocket } from './open-websocket.ts';
import { WebSocketEvents } from './websocket-events.ts';

const id = v.pipe(v.number(), v.integer());
/** A close code that pages may use (RFC 6455), and a reason that fits into the frame. */
const closeCode = v.union([v.literal(1000), v.pipe(v.number(), v.integer(), v.minValue(3000), v.maxValue(4999))]);
const closeReason = v.pipe(
  v.string(),
  v.check((reason) => Buffer.byteLength(reason) <= 123),
);
const said = v.variant('op', [
  v.object({
    op: v.literal('open'),
    id,
    url: v.pipe(v.string(), v.regex(/^wss?:/)),
    protocols: v.array(v.string()),
    userAgent: v.string(),
  }),
  v.object({ op: v.literal('text'), id, data: v.string() }),
  v.object({ op: v.literal('binary'), id, data: v.string() }),
  v.object({ op: v.literal('close'), id, code: v.optional(closeCode), reason: closeReason }),
]);
type Said = v.InferOutput<typeof said>;
type Opening = Extract<Said, { op: 'open' }>;

const cookieList = v.looseObject({
  cookies: v.array(v.looseObject({ name: v.string(), value: v.string(), path: v.string() })),
});

interface Parts {
  targets: ProxiedTargets;
  documents: ProxiedDocuments;
  binding: PageBinding;
  proxies: ContextProxies;
  traffic: ProxiedTraffic | undefined;
  dial?: Dial | undefined;
}

interface Connection {
  document: ProxiedDocument;
  /** Undefined while it is being opened. */
  socket: WebSocket | undefined;
  events: WebSocketEvents;
}

/** Code of a failed connection; neither side sends it. */
const ABNORMAL = 1006;

/**
 * Pages' WebSockets to proxied hosts. CDP cannot pause these, so a replacement for `WebSocket` in the page talks to
 * this class, which talks to the server.
 */
export class ProxiedWebSockets {
  readonly #transport: InterceptorTransport;
  readonly #parts: Parts;
  /** Open connections, by document and the page's own number. */
  readonly #connections = new Map<string, Connection>();

  constructor(transport: InterceptorTransport, parts: Parts) {
    this.#transport = transport;
    this.#parts = parts;
    parts.binding.listen((document, payload) => {
      const { success, output: data } = v.safeParse(said, payload);
      if (success) this.#take(document, data);
    });
    transport.model.onWorldEnd((world) => this.#leave(world));
  }

  /** A document is gone and can no longer receive anything. */
  #leave(document: ProxiedDocument): void {
    for (const [key, connection] of this.#connections) {
      if (connection.document !== document) continue;
      this.#connections.delete(key);
      connection.events.closed();
      connection.socket?.close();
    }
  }

  #take(document: ProxiedDocument, message: Said): void {
    const key = `${document.uniqueId} ${message.id}`;
    const connection = this.#connections.get(key);
    if (message.op === 'open') {
      if (!connection) void this.#open(key, document, message);
      return;
    }
    if (!connection) return;
    const { socket, events } = connection;
    if (message.op === 'close') {
      // While it is opening, this aborts it, which its events report.
      if (socket) socket.close(message.code, message.reason);
      else this.#end(key, message.id, ABNORMAL, '');
      return;
    }
    if (!socket || socket.readyState !== socket.OPEN) return;
    const binary = message.op === 'binary';
    events.sent(message.data, binary);
    const bytes = Buffer.from(message.data, binary ? 'base64' : 'utf8');
    socket.send(bytes, { binary });
  }

  /** Never rejects. */
  async #open(key: string, document: ProxiedDocument, opening: Opening): Promise<void> {
    const { origin, session } = document;
    const { id: number, url, protocols, userAgent } = opening;
    const events = new WebSocketEvents(this.#transport, session.id, url);
    const connection: Connection = { document, socket: undefined, events };
    this.#connections.set(key, connection);
    const target = this.#parts.targets.get(session.id);
    // Checked here again: the page's own check is not trusted.
    if (!target || target.conditions?.isOffline || !this.#parts.documents.mayReach(document, url)) {
      return this.#end(key, number, ABNORMAL, '');
    }
    const cookie = await this.#cookies(url, session.id);
    if (this.#connections.get(key) !== connection) return;
    const uncached = { pragma: 'no-cache', 'cache-control': 'no-cache' };
    const own = { ...uncached, origin, 'user-agent': wireText(userAgent) };
    const headers = { ...own, ...(cookie !== '' && { cookie: wireText(cookie) }) };
    let socket: WebSocket;
    try {
      socket = openWebSocket(url, {
        protocols,
        headers,
        ignoreHTTPSErrors: target.ignoreHTTPSErrors,
        dial: this.#dialFor(document, url),
        traffic: this.#parts.traffic,
      });
    } catch (error) {
      events.failed(errorMessage(error));
      return this.#end(key, number, ABNORMAL, '');
    }
    connection.socket = socket;
    socket.on('open', () => {
      events.opened();
      this.#parts.binding.post(document, { id: number, op: 'open', protocol: socket.protocol });
    });
    socket.on('message', (data: RawData, binary: boolean) => {
      // Not fragments: the socket's default is a single buffer.
      const text = (data as Buffer).toString(binary ? 'base64' : 'utf8');
      events.received(text, binary);
      this.#parts.binding.post(document, { id: number, op: binary ? 'binary' : 'text', data: text });
    });
    socket.on('error', (error) => events.failed(error.message));
    socket.on('close', (code, reason) => this.#end(key, number, code, reason.toString()));
  }

  #dialFor({ session }: ProxiedDocument, url: string): Dial | undefined {
    const { proxies, dial } = this.#parts;
    const proxy = proxies.of(session.target.contextId);
    return proxy?.serves(url) ? dialThrough(proxy, dial) : dial;
  }

  /** @returns the value of the `Cookie` header; empty for none, or if the page is gone */
  async #cookies(url: string, sessionId: string): Promise<string> {
    try {
      // `ws:` addresses have the cookies of `http:` ones.
      const urls = [url.replace(/^ws/, 'http')];
      const { cookies } = v.parse(cookieList, await this.#transport.call('Network.getCookies', { urls }, sessionId));
      // The browser's order; for equal paths, the browser does not report which cookie is older.
      const longestPathFirst = cookies.sort((one, other) => other.path.length - one.path.length);
      return longestPathFirst.map(({ name, value }) => `${name}=${value}`).join('; ');
    } catch {
      return '';
    }
  }

  #end(key: string, id: number, code: number, reason: string): void {
    const connection = this.#connections.get(key);
    if (!connection) return;
    this.#connections.delete(key);
    connection.events.closed();
    const wasClean = code !== ABNORMAL;
    this.#parts.binding.post(connection.document, { id, op: wasClean ? 'closed' : 'failed', code, reason, wasClean });
  }
}

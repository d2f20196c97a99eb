import type { IncomingHttpHeaders } from 'node:http';
import * as v from 'valibot';
import type { RawData, WebSocket } from 'ws';
import { clearTimeout, setTimeout } from '../../../common/clock.ts';
import type { Dial } from '../../../common/dial/dial.ts';
import type { InterceptorTransport } from '../../transport/interceptor.ts';
import { byLowerCase, wireText } from '../headers/header-list.ts';
import { originOf } from '../hosts/proxied-hosts.ts';
import type { PageBinding } from '../page-binding/page-binding.ts';
import type { ProxiedDocument, ProxiedDocuments } from '../page-binding/proxied-documents.ts';
import type { ImpliedHeaders } from '../proxied-requests/implied-headers.ts';
import type { ProxiedTarget, ProxiedTargets } from '../request/proxied-targets.ts';
import type { ContextProxies } from '../send/context-proxy/context-proxies.ts';
import { dialThrough } from '../send/context-proxy/tunnel.ts';
import type { ProxiedTraffic } from '../send/proxied-traffic.ts';
import { describeFailure, openWebSocket } from './open-websocket.ts';
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
  v.object({ op: v.literal('binary'), id, data: v.string(), isUnreported: v.optional(v.boolean(), false) }),
  v.object({ op: v.literal('close'), id, code: v.optional(closeCode), reason: closeReason, isAborted: v.boolean() }),
]);
type Said = v.InferOutput<typeof said>;
type Opening = Extract<Said, { op: 'open' }>;

/** A WebSocket of a page, and the server's side of it. */
interface Connection {
  key: string;
  /** The page's own number. */
  id: number;
  document: ProxiedDocument;
  /** Undefined while it is being opened. */
  socket: WebSocket | undefined;
  /** Why it failed, if it did. */
  failure?: string;
  events: WebSocketEvents;
}

interface Parts {
  targets: ProxiedTargets;
  documents: ProxiedDocuments;
  binding: PageBinding;
  proxies: ContextProxies;
  implied: ImpliedHeaders;
  traffic: ProxiedTraffic | undefined;
  dial?: Dial | undefined;
}

/** Close codes that neither side sends: of a failed connection, and of a page that is gone. */
const ABNORMAL = 1006;
const GOING_AWAY = 1001;
/** What a browser says of a connection that the page closes while it is connecting. */
const ABORTED = 'WebSocket is closed before the connection is established.';
/** Time limit for a server to confirm that a page is gone, in ms. */
const LEAVING_MS = 1_000;

/**
 * WebSockets of pages and workers to proxied hosts. CDP cannot pause these, so our script in the page talks to this
 * class, which talks to the server.
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
    transport.model.onWorldEnd((world) => this.#leave((document) => document === world));
    transport.model.onSessionEnd((session) => this.#leave((document) => document.session === session));
  }

  /** Closes the connections of a document or worker that is gone and can no longer receive anything. */
  #leave(isGone: (document: ProxiedDocument) => boolean): void {
    for (const connection of [...this.#connections.values()]) {
      const { key, document, socket, events } = connection;
      if (!isGone(document)) continue;
      this.#connections.delete(key);
      // The browser reports it for a frame, not for a page.
      if (document.frameId !== document.session.target.id) events.closed();
      if (!socket) continue;
      socket.close(GOING_AWAY);
      const timer = setTimeout(() => socket.terminate(), LEAVING_MS);
      socket.once('close', () => clearTimeout(timer));
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
      if (message.isAborted) this.#abort(connection);
      else socket?.close(message.code, message.reason);
      return;
    }
    if (!socket || socket.readyState !== socket.OPEN) return;
    const binary = message.op === 'binary';
    if (!binary || !message.isUnreported) events.sent(message.data, binary);
    const bytes = Buffer.from(message.data, binary ? 'base64' : 'utf8');
    socket.send(bytes, { binary });
  }

  /** The page had not seen it open, although the server may have accepted it. */
  #abort(connection: Connection): void {
    connection.failure = ABORTED;
    if (connection.socket) connection.socket.terminate();
    else this.#fail(connection, ABORTED);
  }

  /** Never rejects. */
  async #open(key: string, document: ProxiedDocument, opening: Opening): Promise<void> {
    const { id: number, url } = opening;
    const events = new WebSocketEvents(this.#transport, document.session.id, url);
    const connection: Connection = { key, id: number, document, socket: undefined, events };
    this.#connections.set(key, connection);
    const target = this.#parts.targets.serving(document.session);
    // Checked here again: the page's own check is not trusted.
    const isAllowed = target !== undefined && this.#parts.documents.mayConnect(document, url);
    const headers = isAllowed ? await this.#headers(document, target, opening) : {};
    if (this.#connections.get(key) !== connection) return;
    const refuse = (why: string) => {
      events.sending(headers);
      this.#fail(connection, `Error in connection establishment: net::ERR_${why}`);
    };
    if (!isAllowed) return refuse('FAILED');
    if (target.conditions?.isOffline) return refuse('INTERNET_DISCONNECTED');
    const { ignoreHTTPSErrors } = target;
    const { protocols } = opening;
    const { traffic } = this.#parts;
    const dial = this.#dialFor(document, url);
    try {
      const wire = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, wireText(value)]));
      const onRequest = (own: Record<string, string>) => events.sending({ ...own, ...headers });
      const options = { protocols, headers: wire, ignoreHTTPSErrors, dial, traffic, onRequest };
      connection.socket = openWebSocket(url, options);
      this.#follow(connection, connection.socket);
    } catch (error) {
      this.#fail(connection, describeFailure(error as Error));
    }
  }

  #follow(connection: Connection, socket: WebSocket): void {
    const { document, id, events } = connection;
    let headers: IncomingHttpHeaders = {};
    socket.on('upgrade', (response) => {
      headers = response.headers;
    });
    socket.on('open', () => {
      events.opened(headers as Record<string, string>);
      const { protocol } = socket;
      const extensions = headers['sec-websocket-extensions'] ?? '';
      this.#parts.binding.post(document, { id, op: 'open', protocol, extensions });
    });
    socket.on('message', (data: RawData, binary: boolean) => {
      // Not fragments: the socket's default is a single buffer.
      const text = (data as Buffer).toString(binary ? 'base64' : 'utf8');
      events.received(text, binary);
      this.#parts.binding.post(document, { id, op: binary ? 'binary' : 'text', data: text });
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // After the handshake, a broken connection is not an error.
      if (!events.isOpen || error.code?.startsWith('WS_ERR_')) connection.failure = describeFailure(error);
    });
    socket.on('close', (code, reason) => {
      if (connection.failure !== undefined) this.#fail(connection, connection.failure);
      else this.#end(connection, 'closed', code, reason.toString());
    });
  }

  #dialFor({ session }: ProxiedDocument, url: string): Dial | undefined {
    const { proxies, dial } = this.#parts;
    const proxy = proxies.of(session.target.contextId);
    return proxy?.serves(url) ? dialThrough(proxy, dial) : dial;
  }

  /** The headers of the handshake, as a browser would send them. */
  async #headers(document: ProxiedDocument, target: ProxiedTarget, opening: Opening): Promise<Record<string, string>> {
    const { extraHeaders, languages, isDocument } = target;
    const sending = { isNavigation: false, cacheDisabled: true };
    const [cookie, implied] = await Promise.all([
      cookieHeader(this.#transport, opening.url, this.#pageOf(target)),
      isDocument ? this.#parts.implied.complete({}, target, sending) : {},
    ]);
    const origin = originOf(document.origin) ?? 'null';
    return {
      ...implied,
      pragma: 'no-cache',
      'cache-control': 'no-cache',
      'accept-encoding': 'gzip, deflate, br, zstd',
      'user-agent': opening.userAgent,
      ...byLowerCase(extraHeaders),
      // Emulated languages come before other headers of the test.
      ...(isDocument && languages && { 'accept-language': languages }),
      origin,
      ...(cookie !== '' && { cookie }),
    };
  }

  /** A page that shares its cookies: a worker's session cannot read them. */
  #pageOf(target: ProxiedTarget): ProxiedTarget | undefined {
    if (target.isDocument) return target;
    return this.#parts.targets.in(target.session.target.contextId).find(({ isDocument }) => isDocument);
  }

  #fail(connection: Connection, reason: string): void {
    if (this.#connections.get(connection.key) !== connection) return;
    connection.events.failed(reason);
    this.#end(connection, 'failed', ABNORMAL, '');
  }

  #end(connection: Connection, op: 'closed' | 'failed', code: number, reason: string): void {
    const { key, id, document, events } = connection;
    if (this.#connections.get(key) !== connection) return;
    this.#connections.delete(key);
    events.closed();
    this.#parts.binding.post(document, { id, op, code, reason, wasClean: code !== ABNORMAL });
  }
}

const cookieList = v.looseObject({
  cookies: v.array(v.looseObject({ name: v.string(), value: v.string(), domain: v.string(), path: v.string() })),
});
type Cookie = v.InferOutput<typeof cookieList>['cookies'][number];

/**
 * Returns the value of the `Cookie` header of a WebSocket; empty for none, or if the page is gone.
 * @param page a page of the same context
 */
async function cookieHeader(
  transport: InterceptorTransport,
  url: string,
  page: ProxiedTarget | undefined,
): Promise<string> {
  if (!page) return '';
  const { id, target } = page.session;
  // `ws:` addresses have the cookies of `http:` ones.
  const urls = [url.replace(/^ws/, 'http')];
  try {
    const [matching, all] = await Promise.all([
      transport.call('Network.getCookies', { urls }, id),
      // Only this list is in the order in which a browser sends cookies.
      transport.call('Storage.getCookies', { ...(target.contextId && { browserContextId: target.contextId }) }),
    ]);
    const order = v.parse(cookieList, all).cookies.map(keyOf);
    const { cookies } = v.parse(cookieList, matching);
    const sorted = cookies.sort((one, other) => order.indexOf(keyOf(one)) - order.indexOf(keyOf(other)));
    return sorted.map(({ name, value }) => `${name}=${value}`).join('; ');
  } catch {
    return '';
  }
}

function keyOf({ name, domain, path }: Cookie): string {
  return `${domain} ${path} ${name}`;
}

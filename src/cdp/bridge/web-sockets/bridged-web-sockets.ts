import * as v from 'valibot';
import type { RawData, WebSocket } from 'ws';
import { errorMessage } from '../../../common/error-message.ts';
import type { InterceptorLink } from '../../transport/interceptor.ts';
import type { BridgedDocument, BridgedDocuments, HostsIn } from '../bridged-documents.ts';
import type { BridgedSessions } from '../bridged-sessions.ts';
import { wireText } from '../headers/header-bytes.ts';
import { PageBinding } from '../page-binding.ts';
import { openBridgeSocket } from './bridge-socket.ts';
import { WebSocketEvents } from './web-socket-events.ts';

const id = v.pipe(v.number(), v.integer());
/** A close code that a page may give (RFC 6455), and a reason that fits into the frame. */
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
  hostsIn: HostsIn;
  sessions: BridgedSessions;
  documents: BridgedDocuments;
  onCarried: (bytes: number) => void;
}

interface Carried {
  document: BridgedDocument;
  /** Undefined while it is being opened. */
  socket: WebSocket | undefined;
  events: WebSocketEvents;
  closed: boolean;
}

/** Code of a connection that failed, which no side has sent. */
const ABNORMAL = 1006;

/**
 * WebSockets of pages to listed hosts, which CDP has no way to stop: a stand-in for `WebSocket` in the page talks to
 * this, and this to the server.
 */
export class BridgedWebSockets {
  readonly binding: PageBinding;
  readonly #hostsIn: HostsIn;
  readonly #link: InterceptorLink;
  readonly #sessions: BridgedSessions;
  readonly #onCarried: (bytes: number) => void;
  readonly #carried = new Map<string, Carried>();

  constructor(link: InterceptorLink, parts: Parts) {
    this.#link = link;
    this.#hostsIn = parts.hostsIn;
    this.#sessions = parts.sessions;
    this.#onCarried = parts.onCarried;
    const hear = (document: BridgedDocument, payload: unknown) => {
      const { success, output: data } = v.safeParse(said, payload);
      if (success) this.#hear(document, data);
    };
    link.model.onWorldEnd((world) => this.#leave(world));
    this.binding = new PageBinding(link, parts, { kind: 'bridge', code: 'page-web-socket.js', hear });
  }

  /** A document is gone; nobody is there to be told. */
  #leave(document: BridgedDocument): void {
    for (const [key, carried] of this.#carried) {
      if (carried.document !== document) continue;
      this.#carried.delete(key);
      carried.closed = true;
      carried.events.closed();
      carried.socket?.close();
    }
  }

  #hear(document: BridgedDocument, message: Said): void {
    const key = `${document.uniqueId} ${message.id}`;
    const carried = this.#carried.get(key);
    if (message.op === 'open') {
      if (!carried) void this.#open(key, document, message);
      return;
    }
    if (!carried) return;
    const { socket, events } = carried;
    if (message.op === 'close') {
      carried.closed = true;
      // While it opens, this cuts it, and says so.
      if (socket) socket.close(message.code, message.reason);
      else this.#end(key, message.id, ABNORMAL, '');
      return;
    }
    if (socket?.readyState !== socket?.OPEN) return;
    const binary = message.op === 'binary';
    events.sent(message.data, binary);
    const bytes = Buffer.from(message.data, binary ? 'base64' : 'utf8');
    this.#onCarried(bytes.length);
    socket?.send(bytes, { binary });
  }

  /** Never rejects. */
  async #open(key: string, document: BridgedDocument, opening: Opening): Promise<void> {
    const { origin } = document;
    const sessionId = document.session.id;
    const { url, protocols, userAgent } = opening;
    const events = new WebSocketEvents(this.#link, sessionId, url);
    const carried: Carried = { document, socket: undefined, events, closed: false };
    this.#carried.set(key, carried);
    const { offline, ignoreHTTPSErrors = false } = this.#sessions.get(sessionId) ?? {};
    // Judged here too: the page is not to be trusted with it.
    if (offline || !this.#hostsIn(sessionId).matches(url)) return this.#end(key, opening.id, ABNORMAL, '');
    const cookie = await this.#cookies(url, sessionId);
    if (carried.closed) return;
    const uncached = { pragma: 'no-cache', 'cache-control': 'no-cache' };
    const own = { ...uncached, origin, 'user-agent': wireText(userAgent) };
    const headers = { ...own, ...(cookie !== '' && { cookie: wireText(cookie) }) };
    let socket: WebSocket;
    try {
      socket = openBridgeSocket(url, { protocols, headers, ignoreHTTPSErrors });
    } catch (error) {
      events.failed(errorMessage(error));
      return this.#end(key, opening.id, ABNORMAL, '');
    }
    carried.socket = socket;
    socket.on('open', () => {
      events.opened();
      this.#say(document, { id: opening.id, op: 'open', protocol: socket.protocol });
    });
    socket.on('message', (data: RawData, binary: boolean) => {
      // Not fragments: the socket hands out one buffer unless told otherwise.
      const text = (data as Buffer).toString(binary ? 'base64' : 'utf8');
      this.#onCarried((data as Buffer).length);
      events.received(text, binary);
      this.#say(document, { id: opening.id, op: binary ? 'binary' : 'text', data: text });
    });
    socket.on('error', (error) => events.failed(error.message));
    socket.on('close', (code, reason) => this.#end(key, opening.id, code, reason.toString()));
  }

  /** @returns the value of the `Cookie` header; empty for none, or when the page is gone */
  async #cookies(url: string, sessionId: string): Promise<string> {
    try {
      // `ws:` addresses have the cookies of `http:` ones.
      const urls = [url.replace(/^ws/, 'http')];
      const { cookies } = v.parse(cookieList, await this.#link.call('Network.getCookies', { urls }, sessionId));
      // As the browser orders them; of two with one path it does not say which is older.
      const longestPathFirst = cookies.sort((one, other) => other.path.length - one.path.length);
      return longestPathFirst.map(({ name, value }) => `${name}=${value}`).join('; ');
    } catch {
      return '';
    }
  }

  #end(key: string, socketId: number, code: number, reason: string): void {
    const carried = this.#carried.get(key);
    if (!carried) return;
    this.#carried.delete(key);
    carried.closed = true;
    carried.events.closed();
    const wasClean = code !== ABNORMAL;
    this.#say(carried.document, { id: socketId, op: wasClean ? 'closed' : 'failed', code, reason, wasClean });
  }

  #say({ session, uniqueId: uniqueContextId }: BridgedDocument, message: object): void {
    const expression = `globalThis[Symbol.for(${JSON.stringify(this.binding.mailbox)})]?.(${JSON.stringify(message)})`;
    this.#link.post('Runtime.evaluate', { expression, uniqueContextId, silent: true }, session.id);
  }
}

import { fromBase64, toBase64 } from './base64.ts';
import type { Notify } from './offered-responses.ts';

/** An event of a connection, sent by the transport. */
type SocketEvent =
  | { op: 'open'; protocol: string; extensions: string }
  | { op: 'text'; data: string }
  | { op: 'binary'; data: string }
  | { op: 'closed' | 'failed'; code: number; reason: string; wasClean: boolean };

/** A message from the transport about one of the page's connections. */
export type SocketMessage = { id: number } & SocketEvent;

// The page may replace the object that has these constants.
const [CONNECTING, OPEN, CLOSING, CLOSED] = [0, 1, 2, 3];
/** Largest close reason, in bytes of UTF-8 (RFC 6455). */
const REASON_BYTES = 123;
/** How a connection ends that the page closes while it is connecting. */
const ABORTED = { code: 1006, reason: '', wasClean: false };
/** The name of a subprotocol. */
const TOKEN = /^[!#$%&'*+\-.^_`|~\w]+$/;
/** Properties of `WebSocket`s, and those among them that the page may set. */
const READ = ['url', 'readyState', 'protocol', 'extensions', 'bufferedAmount', 'binaryType'] as const;
const HANDLERS = ['open', 'message', 'error', 'close'] as const;

/**
 * Makes `WebSocket` connect to proxied hosts through the transport; all other connections go to the network as usual.
 * Both kinds have the same prototype, so that a test or page may extend and patch it. Playwright's own replacement, for
 * `routeWebSocket`, is installed later and wraps this one.
 * @returns takes the transport's messages for these connections
 */
export function proxyWebSockets(notify: Notify, isProxied: (url: URL) => boolean): (message: SocketMessage) => void {
  const Native = globalThis.WebSocket;
  const { prototype } = Native;
  /** By ID, until they end. */
  const open = new Map<number, Connection>();
  const connections = new WeakMap<object, Connection>();
  let lastId = 0;
  const Proxied = new Proxy(Native, {
    construct(target, args: ConstructorParameters<typeof WebSocket>, newTarget) {
      const request = args.length > 0 ? requestOf(args, isProxied) : null;
      if (!request) return Reflect.construct(target, args, newTarget);
      const socket: EventTarget = Reflect.construct(EventTarget, [], newTarget);
      lastId += 1;
      const id = lastId;
      const connection = new Connection(socket, request.url, (message) => notify({ id, ...message }));
      connections.set(socket, connection);
      open.set(id, connection);
      notify({
        id,
        op: 'open',
        url: request.url.href,
        protocols: request.protocols,
        userAgent: navigator.userAgent,
      });
      return socket;
    },
  });
  prototype.constructor = Proxied;
  globalThis.WebSocket = Proxied;
  const method = (name: 'send' | 'close', call: (connection: Connection, args: unknown[]) => void) => {
    const value = new Proxy<(...args: never[]) => void>(prototype[name], {
      apply(target, self: object, args) {
        const connection = connections.get(self);
        return connection ? call(connection, args) : Reflect.apply(target, self, args as never);
      },
    });
    Object.defineProperty(prototype, name, { ...Object.getOwnPropertyDescriptor(prototype, name), value });
  };
  method('send', (connection, args) => connection.send(args));
  method('close', (connection, [code, reason]) => connection.close(code, reason));
  for (const name of READ) {
    replaceAccessor(prototype, name, connections, {
      get: (connection) => connection[name],
      set: (connection, value) => connection.setBinaryType(value),
    });
  }
  for (const type of HANDLERS) {
    replaceAccessor(prototype, `on${type}`, connections, {
      get: (connection) => connection.handler(type),
      set: (connection, value) => connection.setHandler(type, value),
    });
  }
  return ({ id, ...event }) => {
    if (event.op !== 'closed' && event.op !== 'failed') return open.get(id)?.take(event);
    const connection = open.get(id);
    open.delete(id);
    connection?.take(event);
  };
}

/** Replaces what a property of the browser's objects does for objects that are proxied. */
function replaceAccessor(
  prototype: WebSocket,
  name: string,
  connections: WeakMap<object, Connection>,
  own: { get: (connection: Connection) => unknown; set: (connection: Connection, value: unknown) => void },
): void {
  const native = Object.getOwnPropertyDescriptor(prototype, name);
  if (!native?.get) return;
  const calling = (accessor: () => unknown, call: (connection: Connection, value: unknown) => unknown) =>
    new Proxy(accessor, {
      apply(target, self: object, args: unknown[]) {
        const connection = connections.get(self);
        return connection ? call(connection, args[0]) : Reflect.apply(target, self, args as []);
      },
    });
  const get = calling(native.get, own.get);
  const set = native.set && calling(native.set as () => void, own.set);
  Object.defineProperty(prototype, name, { ...native, get, set });
}

/** Null for connections that the browser's own `WebSocket` takes or rejects. */
function requestOf([address, asked = []]: ConstructorParameters<typeof WebSocket>, isProxied: (url: URL) => boolean) {
  const base = globalThis.document?.baseURI ?? location.href;
  if (!URL.canParse(address, base)) return null;
  const url = new URL(address, base);
  if (url.protocol === 'http:') url.protocol = 'ws:';
  if (url.protocol === 'https:') url.protocol = 'wss:';
  const protocols = typeof asked === 'string' ? [asked] : [...asked].map(String);
  const sound = new Set(protocols).size === protocols.length && protocols.every((protocol) => TOKEN.test(protocol));
  return /^wss?:$/.test(url.protocol) && !url.hash && sound && isProxied(url) ? { url, protocols } : null;
}

/** The state of a `WebSocket` whose connection the transport makes. */
class Connection {
  readonly #socket: EventTarget;
  readonly #url: URL;
  readonly #notify: Notify;
  readonly #handlers = new Map<string, unknown>();
  /** Blobs are read asynchronously; data sent after one waits for it. */
  #queue: Promise<void> | null = null;
  readonly url: string;
  readonly bufferedAmount = 0;
  readyState: number = CONNECTING;
  protocol = '';
  extensions = '';
  binaryType: BinaryType = 'blob';
  /** Closed before the page saw it open: it fails, even if the server has accepted it meanwhile. */
  #isAborted = false;

  constructor(socket: EventTarget, url: URL, notify: Notify) {
    this.#socket = socket;
    this.#url = url;
    this.#notify = notify;
    this.url = url.href;
  }

  setBinaryType(type: unknown) {
    if (type === 'blob' || type === 'arraybuffer') this.binaryType = type;
  }

  handler(type: string): unknown {
    return this.#handlers.get(type) ?? null;
  }

  setHandler(type: string, handler: unknown) {
    if (!this.#handlers.has(type)) {
      this.#socket.addEventListener(type, (event) => {
        const current = this.#handlers.get(type);
        if (typeof current === 'function') current.call(this.#socket, event);
      });
    }
    this.#handlers.set(type, typeof handler === 'function' ? handler : null);
  }

  send(args: unknown[]) {
    const failed = "Failed to execute 'send' on 'WebSocket':";
    if (args.length === 0) throw new TypeError(`${failed} 1 argument required, but only 0 present.`);
    if (this.readyState === CONNECTING) {
      throw new DOMException(`${failed} Still in CONNECTING state.`, 'InvalidStateError');
    }
    if (this.readyState !== OPEN) return;
    const message = packed(args[0]);
    if (!this.#queue && !(message instanceof Promise)) return this.#notify(message);
    const queue = (this.#queue ?? Promise.resolve())
      .then(() => message)
      .then((ready) => {
        if (this.readyState === OPEN) this.#notify(ready);
        if (this.#queue === queue) this.#queue = null;
      });
    this.#queue = queue;
  }

  close(code?: unknown, given: unknown = '') {
    const failed = "Failed to execute 'close' on 'WebSocket':";
    const reason = String(given);
    const number = code === undefined ? undefined : Number(code);
    if (number !== undefined && number !== 1000 && !(number >= 3000 && number <= 4999)) {
      throw new DOMException(
        `${failed} The close code must be either 1000, or between 3000 and 4999. ${code} is neither.`,
        'InvalidAccessError',
      );
    }
    if (new TextEncoder().encode(reason).length > REASON_BYTES) {
      throw new DOMException(`${failed} The close reason must not be greater than 123 UTF-8 bytes.`, 'SyntaxError');
    }
    if (this.readyState >= CLOSING) return;
    const say = () => {
      this.#isAborted = this.readyState === CONNECTING;
      this.readyState = CLOSING;
      this.#notify({ op: 'close', code: number, reason, isAborted: this.#isAborted });
    };
    if (this.#queue) this.#queue = this.#queue.then(say);
    else say();
  }

  take(event: SocketEvent) {
    if (event.op === 'open') {
      if (this.readyState !== CONNECTING) return;
      this.readyState = OPEN;
      this.protocol = event.protocol;
      this.extensions = event.extensions;
      this.#socket.dispatchEvent(new Event('open'));
    } else if (event.op === 'text' || event.op === 'binary') {
      if (this.readyState !== OPEN) return;
      const data = event.op === 'text' ? event.data : this.#unpacked(event.data);
      this.#socket.dispatchEvent(new MessageEvent('message', { data, origin: this.#url.origin }));
    } else {
      const { code, reason, wasClean } = this.#isAborted ? ABORTED : event;
      this.readyState = CLOSED;
      if (this.#isAborted || event.op === 'failed') this.#socket.dispatchEvent(new Event('error'));
      this.#socket.dispatchEvent(new CloseEvent('close', { code, reason, wasClean }));
    }
  }

  #unpacked(base64: string) {
    const { buffer } = fromBase64(base64);
    return this.binaryType === 'blob' ? new Blob([buffer]) : buffer;
  }
}

/** In the transport's format. The data may come from another frame, whose classes differ. */
function packed(data: unknown): object | Promise<object> {
  const is = (tag: string) => Object.prototype.toString.call(data) === `[object ${tag}]`;
  const binary = (bytes: Uint8Array) => ({ op: 'binary', data: toBase64(bytes) });
  // The browser does not report the content of a blob.
  if (is('Blob') || is('File')) {
    return (data as Blob).arrayBuffer().then((bytes) => ({ ...binary(new Uint8Array(bytes)), isUnreported: true }));
  }
  if (is('ArrayBuffer')) return binary(new Uint8Array(data as ArrayBuffer));
  if (ArrayBuffer.isView(data)) return binary(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  return { op: 'text', data: String(data) };
}

import { fromBase64, toBase64 } from './base64.ts';
import type { Notify } from './offered-responses.ts';

/** An event of a connection, sent by the transport. */
type SocketEvent =
  | { op: 'open'; protocol: string }
  | { op: 'text'; data: string }
  | { op: 'binary'; data: string }
  | { op: 'closed' | 'failed'; code: number; reason: string; wasClean: boolean };

/** A message from the transport about one of the page's connections. */
export type SocketMessage = { id: number } & SocketEvent;

type Handler = ((event: Event) => unknown) | null;

// The page may replace the object that has these constants.
const [CONNECTING, OPEN, CLOSING, CLOSED] = [0, 1, 2, 3];
/** Largest close reason, in bytes of UTF-8 (RFC 6455). */
const REASON_BYTES = 123;
/** The name of a subprotocol. */
const TOKEN = /^[!#$%&'*+\-.^_`|~\w]+$/;

/**
 * Replaces `WebSocket`: connections to proxied hosts go to the transport, all others to the network as usual.
 * Playwright's own replacement, for `routeWebSocket`, is installed later and wraps this one.
 * @returns takes the transport's messages for these connections
 */
export function proxyWebSockets(notify: Notify, isProxied: (url: URL) => boolean): (message: SocketMessage) => void {
  const Native = globalThis.WebSocket;
  const sockets = new Map<number, (event: SocketEvent) => void>();
  let lastId = 0;
  const open = (url: URL, protocols: string[]) => {
    lastId += 1;
    const id = lastId;
    return new ProxiedWebSocket(url, protocols, {
      notify: (message) => notify({ id, ...message }),
      listen: (take) => sockets.set(id, take),
      leave: () => sockets.delete(id),
    });
  };
  const Proxied = new Proxy(Native, {
    construct(target, args: ConstructorParameters<typeof WebSocket>, newTarget) {
      const request = args.length > 0 ? requestOf(args, isProxied) : null;
      return request ? open(request.url, request.protocols) : Reflect.construct(target, args, newTarget);
    },
  });
  Object.setPrototypeOf(ProxiedWebSocket.prototype, Native.prototype);
  ProxiedWebSocket.prototype.constructor = Proxied;
  globalThis.WebSocket = Proxied;
  return ({ id, ...event }) => sockets.get(id)?.(event);
}

/** Null for connections that the browser's own `WebSocket` takes or rejects. */
function requestOf([address, asked = []]: ConstructorParameters<typeof WebSocket>, isProxied: (url: URL) => boolean) {
  if (!URL.canParse(address, document.baseURI)) return null;
  const url = new URL(address, document.baseURI);
  if (url.protocol === 'http:') url.protocol = 'ws:';
  if (url.protocol === 'https:') url.protocol = 'wss:';
  const protocols = typeof asked === 'string' ? [asked] : [...asked].map(String);
  const sound = new Set(protocols).size === protocols.length && protocols.every((protocol) => TOKEN.test(protocol));
  return /^wss?:$/.test(url.protocol) && !url.hash && sound && isProxied(url) ? { url, protocols } : null;
}

/** The transport's end of a connection. */
interface Connection {
  notify: Notify;
  listen(take: (event: SocketEvent) => void): void;
  /** Nothing more follows. */
  leave(): void;
}

class ProxiedWebSocket extends EventTarget {
  readonly #url: URL;
  readonly #connection: Connection;
  #state: number = CONNECTING;
  #protocol = '';
  #binaryType: BinaryType = 'blob';
  /** Blobs are read asynchronously; data sent after one waits for it. */
  #queue: Promise<void> | null = null;

  constructor(url: URL, protocols: string[], connection: Connection) {
    super();
    this.#url = url;
    this.#connection = connection;
    connection.listen((event) => this.#take(event));
    connection.notify({ op: 'open', url: url.href, protocols, userAgent: navigator.userAgent });
  }
  get url() {
    return this.#url.href;
  }
  get readyState() {
    return this.#state;
  }
  get protocol() {
    return this.#protocol;
  }
  get extensions() {
    return '';
  }
  get bufferedAmount() {
    return 0;
  }
  get binaryType() {
    return this.#binaryType;
  }
  set binaryType(type) {
    if (type === 'blob' || type === 'arraybuffer') this.#binaryType = type;
  }
  send(data: unknown) {
    if (this.#state === CONNECTING) {
      throw new DOMException(
        "Failed to execute 'send' on 'WebSocket': Still in CONNECTING state.",
        'InvalidStateError',
      );
    }
    if (this.#state !== OPEN) return;
    const message = packed(data);
    if (!this.#queue && !(message instanceof Promise)) return this.#connection.notify(message);
    const queue = (this.#queue ?? Promise.resolve())
      .then(() => message)
      .then((ready) => {
        if (this.#state === OPEN) this.#connection.notify(ready);
        if (this.#queue === queue) this.#queue = null;
      });
    this.#queue = queue;
  }

  close(code?: number, reason = '') {
    const failed = "Failed to execute 'close' on 'WebSocket':";
    if (code !== undefined && code !== 1000 && !(code >= 3000 && code <= 4999)) {
      throw new DOMException(
        `${failed} The close code must be either 1000, or between 3000 and 4999. ${code} is neither.`,
        'InvalidAccessError',
      );
    }
    if (new TextEncoder().encode(reason).length > REASON_BYTES) {
      throw new DOMException(`${failed} The close reason must not be greater than 123 UTF-8 bytes.`, 'SyntaxError');
    }
    if (this.#state >= CLOSING) return;
    const say = () => {
      this.#state = CLOSING;
      this.#connection.notify({ op: 'close', code, reason: String(reason) });
    };
    if (this.#queue) this.#queue = this.#queue.then(say);
    else say();
  }

  #take(event: SocketEvent) {
    if (event.op === 'open') {
      if (this.#state !== CONNECTING) return;
      this.#state = OPEN;
      this.#protocol = event.protocol;
      this.dispatchEvent(new Event('open'));
    } else if (event.op === 'text' || event.op === 'binary') {
      if (this.#state !== OPEN) return;
      const data = event.op === 'text' ? event.data : this.#unpacked(event.data);
      this.dispatchEvent(new MessageEvent('message', { data, origin: this.#url.origin }));
    } else {
      const { op, code, reason, wasClean } = event;
      this.#state = CLOSED;
      this.#connection.leave();
      if (op === 'failed') this.dispatchEvent(new Event('error'));
      this.dispatchEvent(new CloseEvent('close', { code, reason, wasClean }));
    }
  }

  #unpacked(base64: string) {
    const { buffer } = fromBase64(base64);
    return this.#binaryType === 'blob' ? new Blob([buffer]) : buffer;
  }
}

// Properties like `onopen`.
for (const type of ['open', 'message', 'error', 'close']) {
  const handlers = new WeakMap<EventTarget, Handler>();
  Object.defineProperty(ProxiedWebSocket.prototype, `on${type}`, {
    configurable: true,
    enumerable: true,
    get(this: EventTarget) {
      return handlers.get(this) ?? null;
    },
    set(this: EventTarget, handler: unknown) {
      this.removeEventListener(type, handlers.get(this) ?? null);
      const usable = typeof handler === 'function' ? (handler as Handler) : null;
      this.addEventListener(type, usable);
      handlers.set(this, usable);
    },
  });
}

/** In the transport's format. */
function packed(data: unknown): object | Promise<object> {
  const binary = (bytes: Uint8Array) => ({ op: 'binary', data: toBase64(bytes) });
  if (data instanceof Blob) return data.arrayBuffer().then((buffer) => binary(new Uint8Array(buffer)));
  if (data instanceof ArrayBuffer) return binary(new Uint8Array(data));
  if (ArrayBuffer.isView(data)) return binary(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  return { op: 'text', data: String(data) };
}

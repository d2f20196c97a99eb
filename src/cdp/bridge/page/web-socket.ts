import { fromBase64, toBase64 } from './base64.ts';
import { begin, type Given, type Tell } from './begin.ts';

/** What the transport says of a connection. */
type Said =
  | { op: 'open'; protocol: string }
  | { op: 'text'; data: string }
  | { op: 'binary'; data: string }
  | { op: 'closed' | 'failed'; code: number; reason: string; wasClean: boolean };

type Handler = ((event: Event) => unknown) | null;
type Type = 'open' | 'message' | 'error' | 'close';

// The page may replace what has these constants.
const [CONNECTING, OPEN, CLOSING, CLOSED] = [0, 1, 2, 3];
/** Bound on a close reason, in bytes of UTF-8 (RFC 6455). */
const REASON_BYTES = 123;
/** A subprotocol's name. */
const TOKEN = /^[!#$%&'*+\-.^_`|~\w]+$/;

/**
 * Puts a `WebSocket` in place that sends connections to listed hosts to the transport, and all others on their normal
 * way. Playwright's own stand-in, for `routeWebSocket`, comes later and builds on this one.
 */
export function run(given: Given): void {
  begin<{ id: number } & Said>(given, (tell, isListed) => {
    const Native = globalThis.WebSocket;
    const sockets = new Map<number, (said: Said) => void>();
    let lastId = 0;

    const open = (url: URL, protocols: string[]) => {
      lastId += 1;
      const id = lastId;
      return new BridgedWebSocket(url, protocols, {
        tell: (message) => tell({ id, ...message }),
        hear: (take) => sockets.set(id, take),
        leave: () => sockets.delete(id),
      });
    };
    const Bridging = new Proxy(Native, {
      construct(target, args: ConstructorParameters<typeof WebSocket>, newTarget) {
        const request = args.length > 0 ? requestOf(args, isListed) : null;
        return request ? open(request.url, request.protocols) : Reflect.construct(target, args, newTarget);
      },
    });
    Object.setPrototypeOf(BridgedWebSocket.prototype, Native.prototype);
    BridgedWebSocket.prototype.constructor = Bridging;
    globalThis.WebSocket = Bridging;
    return ({ id, ...said }) => sockets.get(id)?.(said);
  });
}

/** Null for what the browser's own is to take, or to refuse. */
function requestOf([address, asked = []]: ConstructorParameters<typeof WebSocket>, isListed: (url: URL) => boolean) {
  if (!URL.canParse(address, document.baseURI)) return null;
  const url = new URL(address, document.baseURI);
  if (url.protocol === 'http:') url.protocol = 'ws:';
  if (url.protocol === 'https:') url.protocol = 'wss:';
  const protocols = typeof asked === 'string' ? [asked] : [...asked].map(String);
  const sound = new Set(protocols).size === protocols.length && protocols.every((protocol) => TOKEN.test(protocol));
  return /^wss?:$/.test(url.protocol) && !url.hash && sound && isListed(url) ? { url, protocols } : null;
}

/** The transport's end of a connection. */
interface Link {
  tell: Tell;
  hear(take: (said: Said) => void): void;
  /** Nothing more comes. */
  leave(): void;
}

class BridgedWebSocket extends EventTarget {
  readonly #url: URL;
  readonly #link: Link;
  readonly #handlers: Partial<Record<Type, Handler>> = {};
  #state: number = CONNECTING;
  #protocol = '';
  #binaryType: BinaryType = 'blob';
  /** Blobs are read in their own time; what is sent after one waits for it. */
  #queue: Promise<void> | null = null;

  constructor(url: URL, protocols: string[], link: Link) {
    super();
    this.#url = url;
    this.#link = link;
    link.hear((said) => this.#take(said));
    link.tell({ op: 'open', url: url.href, protocols, userAgent: navigator.userAgent });
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
  get onopen() {
    return this.#handlers.open ?? null;
  }
  set onopen(handler) {
    this.#handle('open', handler);
  }
  get onmessage() {
    return this.#handlers.message ?? null;
  }
  set onmessage(handler) {
    this.#handle('message', handler);
  }
  get onerror() {
    return this.#handlers.error ?? null;
  }
  set onerror(handler) {
    this.#handle('error', handler);
  }
  get onclose() {
    return this.#handlers.close ?? null;
  }
  set onclose(handler) {
    this.#handle('close', handler);
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
    if (!this.#queue && !(message instanceof Promise)) return this.#link.tell(message);
    const queue = (this.#queue ?? Promise.resolve())
      .then(() => message)
      .then((ready) => {
        if (this.#state === OPEN) this.#link.tell(ready);
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
      this.#link.tell({ op: 'close', code, reason: String(reason) });
    };
    if (this.#queue) this.#queue = this.#queue.then(say);
    else say();
  }

  #handle(type: Type, handler: Handler) {
    const old = this.#handlers[type];
    const usable = typeof handler === 'function' ? handler : null;
    if (old) this.removeEventListener(type, old);
    if (usable) this.addEventListener(type, usable);
    this.#handlers[type] = usable;
  }

  #take(said: Said) {
    if (said.op === 'open') {
      if (this.#state !== CONNECTING) return;
      this.#state = OPEN;
      this.#protocol = said.protocol;
      this.dispatchEvent(new Event('open'));
    } else if (said.op === 'text' || said.op === 'binary') {
      if (this.#state !== OPEN) return;
      const data = said.op === 'text' ? said.data : this.#unpacked(said.data);
      this.dispatchEvent(new MessageEvent('message', { data, origin: this.#url.origin }));
    } else {
      const { op, code, reason, wasClean } = said;
      this.#state = CLOSED;
      this.#link.leave();
      if (op === 'failed') this.dispatchEvent(new Event('error'));
      this.dispatchEvent(new CloseEvent('close', { code, reason, wasClean }));
    }
  }

  #unpacked(base64: string) {
    const { buffer } = fromBase64(base64);
    return this.#binaryType === 'blob' ? new Blob([buffer]) : buffer;
  }
}

/** As the transport takes it. */
function packed(data: unknown): object | Promise<object> {
  const binary = (bytes: Uint8Array) => ({ op: 'binary', data: toBase64(bytes) });
  if (data instanceof Blob) return data.arrayBuffer().then((buffer) => binary(new Uint8Array(buffer)));
  if (data instanceof ArrayBuffer) return binary(new Uint8Array(data));
  if (ArrayBuffer.isView(data)) return binary(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  return { op: 'text', data: String(data) };
}

/**
 * Puts a `WebSocket` in place that sends connections to listed hosts to the transport, and all others on their normal
 * way. Playwright's own stand-in, for `routeWebSocket`, comes later and builds on this one.
 */
export const WEB_SOCKET_SHIM = `(tell, listed) => {
  const Native = globalThis.WebSocket;
  const sockets = new Map();
  let lastId = 0;
  const toBase64 = (buffer) => {
    const bytes = new Uint8Array(buffer);
    let text = '';
    for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
    return btoa(text);
  };
  const fromBase64 = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)).buffer;

  class BridgedWebSocket extends EventTarget {
    #id = ++lastId;
    #url;
    #state = Native.CONNECTING;
    #protocol = '';
    #binaryType = 'blob';
    #handlers = {};
    // Blobs are read in their own time; what is sent after one waits for it.
    #queue = null;

    constructor(url, protocols) {
      super();
      this.#url = url.href;
      sockets.set(this.#id, (message) => this.#take(message));
      this.#tell({ op: 'open', url: url.href, protocols, userAgent: navigator.userAgent });
    }
    get url() { return this.#url; }
    get readyState() { return this.#state; }
    get protocol() { return this.#protocol; }
    get extensions() { return ''; }
    get bufferedAmount() { return 0; }
    get binaryType() { return this.#binaryType; }
    set binaryType(type) { if (type === 'blob' || type === 'arraybuffer') this.#binaryType = type; }
    get onopen() { return this.#handlers.open ?? null; }
    set onopen(handler) { this.#handle('open', handler); }
    get onmessage() { return this.#handlers.message ?? null; }
    set onmessage(handler) { this.#handle('message', handler); }
    get onerror() { return this.#handlers.error ?? null; }
    set onerror(handler) { this.#handle('error', handler); }
    get onclose() { return this.#handlers.close ?? null; }
    set onclose(handler) { this.#handle('close', handler); }

    send(data) {
      if (this.#state === Native.CONNECTING) {
        throw new DOMException("Failed to execute 'send' on 'WebSocket': Still in CONNECTING state.", 'InvalidStateError');
      }
      if (this.#state !== Native.OPEN) return;
      const message = this.#pack(data);
      if (this.#queue || message instanceof Promise) {
        const queue = (this.#queue ?? Promise.resolve()).then(() => message).then((ready) => {
          if (this.#state === Native.OPEN) this.#tell(ready);
          if (this.#queue === queue) this.#queue = null;
        });
        this.#queue = queue;
      } else {
        this.#tell(message);
      }
    }
    close(code, reason = '') {
      if (code !== undefined && code !== 1000 && !(code >= 3000 && code <= 4999)) {
        throw new DOMException("Failed to execute 'close' on 'WebSocket': The close code must be either 1000, or between 3000 and 4999. " + code + ' is neither.', 'InvalidAccessError');
      }
      if (new TextEncoder().encode(reason).length > 123) {
        throw new DOMException("Failed to execute 'close' on 'WebSocket': The close reason must not be greater than 123 UTF-8 bytes.", 'SyntaxError');
      }
      if (this.#state >= Native.CLOSING) return;
      const say = () => {
        this.#tell({ op: 'close', code, reason: String(reason) });
      };
      if (this.#queue) this.#queue = this.#queue.then(() => { this.#state = Native.CLOSING; say(); });
      else {
        this.#state = Native.CLOSING;
        say();
      }
    }
    #pack(data) {
      if (data instanceof Blob) return data.arrayBuffer().then((buffer) => ({ op: 'binary', data: toBase64(buffer) }));
      if (data instanceof ArrayBuffer) return { op: 'binary', data: toBase64(data) };
      if (ArrayBuffer.isView(data)) {
        return { op: 'binary', data: toBase64(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength)) };
      }
      return { op: 'text', data: String(data) };
    }
    #tell(message) { tell({ id: this.#id, ...message }); }
    #handle(type, handler) {
      const old = this.#handlers[type];
      const usable = typeof handler === 'function' ? handler : null;
      if (old) this.removeEventListener(type, old);
      if (usable) this.addEventListener(type, usable);
      this.#handlers[type] = usable;
    }
    #take({ op, data, protocol, code, reason, wasClean }) {
      if (op === 'open') {
        if (this.#state !== Native.CONNECTING) return;
        this.#state = Native.OPEN;
        this.#protocol = protocol;
        this.dispatchEvent(new Event('open'));
      } else if (op === 'text' || op === 'binary') {
        if (this.#state !== Native.OPEN) return;
        const buffer = op === 'binary' ? fromBase64(data) : null;
        const payload = !buffer ? data : this.#binaryType === 'blob' ? new Blob([buffer]) : buffer;
        this.dispatchEvent(new MessageEvent('message', { data: payload, origin: new URL(this.#url).origin }));
      } else {
        this.#state = Native.CLOSED;
        sockets.delete(this.#id);
        if (op === 'failed') this.dispatchEvent(new Event('error'));
        this.dispatchEvent(new CloseEvent('close', { code, reason, wasClean }));
      }
    }
  }

  const token = /^[!#$%&'*+\\-.^_\`|~\\w]+$/;
  /** Null for what the browser's own is to take, or to refuse. */
  const bridged = (address, given = []) => {
    if (!URL.canParse(address, document.baseURI)) return null;
    const url = new URL(address, document.baseURI);
    if (url.protocol === 'http:') url.protocol = 'ws:';
    if (url.protocol === 'https:') url.protocol = 'wss:';
    const protocols = typeof given === 'string' ? [given] : [...given].map(String);
    const sound = new Set(protocols).size === protocols.length && protocols.every((protocol) => token.test(protocol));
    return /^wss?:$/.test(url.protocol) && !url.hash && sound && listed(url) ? { url, protocols } : null;
  };
  const Bridging = new Proxy(Native, {
    construct(target, args, newTarget) {
      const request = args.length > 0 ? bridged(...args) : null;
      return request ? new BridgedWebSocket(request.url, request.protocols) : Reflect.construct(target, args, newTarget);
    },
  });
  Object.setPrototypeOf(BridgedWebSocket.prototype, Native.prototype);
  BridgedWebSocket.prototype.constructor = Bridging;
  globalThis.WebSocket = Bridging;
  return ({ id, ...message }) => sockets.get(id)?.(message);
}`;

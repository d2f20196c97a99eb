/**
 * An `EventSource` in place of the browser's, for listed hosts: the browser's own would be told nothing before its stream
 * ends. It is made of `fetch`, which is told each part.
 */
export const EVENT_SOURCE_SHIM = `(listed) => {
  const Native = globalThis.EventSource;
  const send = globalThis.fetch;
  const RECONNECT_MS = 3000;

  class BridgedEventSource extends EventTarget {
    #url;
    #withCredentials;
    #state = Native.CONNECTING;
    #handlers = {};
    #abort = new AbortController();
    #lastEventId = '';
    #retry = RECONNECT_MS;

    constructor(url, withCredentials) {
      super();
      this.#url = url;
      this.#withCredentials = withCredentials;
      void this.#run();
    }
    get url() { return this.#url; }
    get withCredentials() { return this.#withCredentials; }
    get readyState() { return this.#state; }
    get onopen() { return this.#handlers.open ?? null; }
    set onopen(handler) { this.#handle('open', handler); }
    get onmessage() { return this.#handlers.message ?? null; }
    set onmessage(handler) { this.#handle('message', handler); }
    get onerror() { return this.#handlers.error ?? null; }
    set onerror(handler) { this.#handle('error', handler); }
    close() {
      this.#state = Native.CLOSED;
      this.#abort.abort();
    }
    #handle(type, handler) {
      const old = this.#handlers[type];
      const usable = typeof handler === 'function' ? handler : null;
      if (old) this.removeEventListener(type, old);
      if (usable) this.addEventListener(type, usable);
      this.#handlers[type] = usable;
    }
    async #run() {
      while (this.#state !== Native.CLOSED) {
        const answer = await send(this.#url, {
          headers: { accept: 'text/event-stream', ...(this.#lastEventId && { 'last-event-id': this.#lastEventId }) },
          cache: 'no-store',
          credentials: this.#withCredentials ? 'include' : 'same-origin',
          signal: this.#abort.signal,
        }).catch(() => null);
        if (this.#state === Native.CLOSED) return;
        if (answer) {
          const type = (answer.headers.get('content-type') ?? '').split(';')[0].trim().toLowerCase();
          if (answer.status !== 200 || type !== 'text/event-stream') {
            void answer.body?.cancel();
            this.close();
            this.dispatchEvent(new Event('error'));
            return;
          }
          this.#state = Native.OPEN;
          this.dispatchEvent(new Event('open'));
          await this.#read(answer).catch(() => undefined);
        }
        if (this.#state === Native.CLOSED) return;
        this.#state = Native.CONNECTING;
        this.dispatchEvent(new Event('error'));
        await new Promise((resolve) => setTimeout(resolve, this.#retry));
      }
    }
    async #read(answer) {
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      const { origin } = new URL(answer.url || this.#url);
      let text = '';
      let type = '';
      let data = [];
      let id = this.#lastEventId;
      for (;;) {
        const { value, done } = await reader.read();
        if (done || this.#state === Native.CLOSED) return;
        text += value;
        // A carriage return at the end may be the first half of a line's end.
        const lines = text.split(/\\r\\n|\\n|\\r(?!$)/);
        text = lines.pop();
        for (const line of lines) {
          if (line === '') {
            this.#lastEventId = id;
            if (data.length > 0) {
              const init = { data: data.join('\\n'), origin, lastEventId: id };
              this.dispatchEvent(new MessageEvent(type || 'message', init));
              if (this.#state === Native.CLOSED) return;
            }
            type = '';
            data = [];
            continue;
          }
          const colon = line.indexOf(':');
          const field = colon === -1 ? line : line.slice(0, colon);
          const said = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
          if (field === 'data') data.push(said);
          if (field === 'event') type = said;
          if (field === 'id' && !said.includes('\\0')) id = said;
          if (field === 'retry' && /^\\d+$/.test(said)) this.#retry = Number(said);
        }
      }
    }
  }

  const bridged = (address, init) => {
    if (!URL.canParse(address, document.baseURI)) return null;
    const url = new URL(address, document.baseURI);
    return /^https?:$/.test(url.protocol) && listed(url) ? new BridgedEventSource(url.href, init?.withCredentials === true) : null;
  };
  const Bridging = new Proxy(Native, {
    construct(target, args, newTarget) {
      return (args.length > 0 && bridged(...args)) || Reflect.construct(target, args, newTarget);
    },
  });
  Object.setPrototypeOf(BridgedEventSource.prototype, Native.prototype);
  BridgedEventSource.prototype.constructor = Bridging;
  globalThis.EventSource = Bridging;
}`;

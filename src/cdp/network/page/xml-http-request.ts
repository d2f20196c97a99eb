import { parsedJson } from '../../../common/text/parsed-json.ts';
import { type OfferedResponses, type PageRequest, urlOf } from './offered-responses.ts';

/** How a request ends early; `open`: it is reused for another request. */
type Stop = 'abort' | 'error' | 'open';

/** A request from its `open()` to the next one. */
interface Opened {
  url: string | null;
  /** It is synchronous, and blocks the page. */
  blocks: boolean;
  /** Undefined until it is sent, and for a synchronous request. */
  request?: PageRequest;
  /** Ends it while its body is still to come. */
  stop?: ((why: Stop) => void) | undefined;
}

/** Of `XMLHttpRequest`, which service workers do not have. */
const LOADING = 3;

/** Lets `XMLHttpRequest` take offered responses. */
export function requestOffered(responses: OfferedResponses): void {
  const opened = new WeakMap<XMLHttpRequest, Opened>();

  const Native = globalThis.XMLHttpRequest;
  const { prototype } = Native;
  const Offered = new Proxy(Native, {
    construct(target, args, newTarget) {
      const xhr: XMLHttpRequest = Reflect.construct(target, args, newTarget);
      // Before all listeners of the page: the body arrives after the browser considers the request finished.
      const hold = (event: Event) => {
        const state = opened.get(xhr);
        const request = state?.request;
        if (!request || !event.isTrusted) return;
        if (event.type === 'loadend') responses.end(request);
        if (request.id === null || xhr.readyState < LOADING) return;
        if (xhr.status === 0) {
          responses.drop(request.id);
          request.id = null;
          return;
        }
        event.stopImmediatePropagation();
        if (event.type === 'load') void read(xhr, state, request.id);
      };
      for (const type of ['readystatechange', 'progress', 'load', 'loadend']) xhr.addEventListener(type, hold);
      return xhr;
    },
  });
  globalThis.XMLHttpRequest = Offered;
  prototype.constructor = Offered;
  prototype.open = new Proxy(prototype.open, {
    apply(target, self: XMLHttpRequest, args: Parameters<XMLHttpRequest['open']>) {
      const result = Reflect.apply(target, self, args);
      opened.get(self)?.stop?.('open');
      opened.set(self, { url: urlOf(args[1]), blocks: args.length > 2 && !args[2] });
      showOwn(self, 'readyState', 'status', 'statusText', 'response', 'responseText');
      return result;
    },
  });
  prototype.send = new Proxy(prototype.send, {
    apply(target, self: XMLHttpRequest, args: Parameters<XMLHttpRequest['send']>) {
      const state = opened.get(self);
      // A synchronous request cannot wait for pieces.
      if (state?.url != null && state.blocks) responses.takeWhole(state.url);
      else if (state?.url != null) state.request = responses.begin(state.url);
      return Reflect.apply(target, self, args);
    },
  });
  prototype.abort = new Proxy(prototype.abort, {
    apply(target, self: XMLHttpRequest, args: []) {
      const { stop } = opened.get(self) ?? {};
      if (stop) stop('abort');
      else Reflect.apply(target, self, args);
    },
  });

  /** Reads the body and dispatches the events that the browser would. Never rejects. */
  async function read(xhr: XMLHttpRequest, state: Opened, id: string): Promise<void> {
    const body = new Body(xhr);
    const total = Number(
      xhr.getResponseHeader('content-encoding') ? 0 : (xhr.getResponseHeader('content-length') ?? 0),
    );
    const progress = (type: string, loaded: number) =>
      xhr.dispatchEvent(new ProgressEvent(type, { lengthComputable: total > 0, loaded, total }));
    const abort = new AbortController();
    let stopped: Stop | null = null as Stop | null;
    state.stop = (why) => {
      stopped = why;
      abort.abort();
    };
    const reader = responses.body(id, abort.signal).getReader();
    show(xhr, { readyState: LOADING, ...body.soFar() });
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        body.add(value);
        show(xhr, body.soFar());
        xhr.dispatchEvent(new Event('readystatechange'));
        progress('progress', body.size);
      }
    } catch {
      stopped ??= 'error';
    }
    state.stop = undefined;
    // It has been reused for another request.
    if (stopped === 'open') return;
    showOwn(xhr, 'readyState');
    show(xhr, stopped ? { status: 0, statusText: '', ...body.none() } : await body.whole());
    const size = stopped ? 0 : body.size;
    xhr.dispatchEvent(new Event('readystatechange'));
    progress(stopped ?? 'load', size);
    progress('loadend', size);
  }
}

/** A response's body in the form that the page has asked for. */
class Body {
  readonly #xhr: XMLHttpRequest;
  readonly #decoder: TextDecoder;
  readonly #parts: Uint8Array<ArrayBuffer>[] = [];
  #text = '';
  /** Size so far, in bytes. */
  size = 0;

  constructor(xhr: XMLHttpRequest) {
    this.#xhr = xhr;
    const [, charset = 'utf-8'] = /charset="?([^";]+)/i.exec(xhr.getResponseHeader('content-type') ?? '') ?? [];
    this.#decoder = decoderOf(charset);
  }

  get #isText() {
    const { responseType } = this.#xhr;
    return responseType === '' || responseType === 'text';
  }

  add(bytes: Uint8Array<ArrayBuffer>): void {
    const { responseType } = this.#xhr;
    this.size += bytes.length;
    if (responseType === 'arraybuffer' || responseType === 'blob') this.#parts.push(bytes);
    else this.#text += this.#decoder.decode(bytes, { stream: true });
  }

  /** What the page may see before the end. */
  soFar(): object {
    return this.#isText ? { responseText: this.#text, response: this.#text } : {};
  }

  /** What the page sees after a failure. */
  none(): object {
    return this.#isText ? { responseText: '', response: '' } : { response: null };
  }

  async whole(): Promise<object> {
    this.#text += this.#decoder.decode();
    return this.#isText ? this.soFar() : { response: await this.#converted() };
  }

  async #converted(): Promise<unknown> {
    switch (this.#xhr.responseType) {
      case 'arraybuffer':
        return await new Blob(this.#parts).arrayBuffer();
      case 'blob':
        return new Blob(this.#parts, { type: this.#xhr.getResponseHeader('content-type') ?? '' });
      case 'json':
        return parsedJson(this.#text) ?? null;
      default:
        return new DOMParser().parseFromString(this.#text, 'text/html');
    }
  }
}

function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}

/** Overrides properties of the browser's own object. */
function show(xhr: XMLHttpRequest, values: object): void {
  for (const [name, value] of Object.entries(values)) Object.defineProperty(xhr, name, { configurable: true, value });
}

/** Restores the browser's values. */
function showOwn(xhr: XMLHttpRequest, ...names: (keyof XMLHttpRequest)[]): void {
  for (const name of names) Reflect.deleteProperty(xhr, name);
}

import { type OfferedAnswers, type PageRequest, urlOf } from './offered-answers.ts';

/** How a request ends that does not end well; `open`: it is used for another one. */
type Stop = 'abort' | 'error' | 'open';

const { LOADING } = XMLHttpRequest;

/** Lets `XMLHttpRequest` take offered answers. */
export function requestOffered(answers: OfferedAnswers): void {
  const opened = new WeakMap<XMLHttpRequest, { url: string | null; blocks: boolean }>();
  const sent = new WeakMap<XMLHttpRequest, PageRequest>();
  /** Of each whose body is still to come: how to end it. */
  const reading = new WeakMap<XMLHttpRequest, (why: Stop) => void>();

  const Native = globalThis.XMLHttpRequest;
  const { prototype } = Native;
  const Offered = new Proxy(Native, {
    construct(target, args, newTarget) {
      const xhr: XMLHttpRequest = Reflect.construct(target, args, newTarget);
      // Before any listener of the page: the body comes after the browser takes the request for finished.
      const hold = (event: Event) => {
        const request = sent.get(xhr);
        if (!request || !event.isTrusted) return;
        if (event.type === 'loadend') answers.end(request);
        if (request.id === null || xhr.readyState < LOADING) return;
        if (xhr.status === 0) {
          answers.drop(request.id);
          request.id = null;
          return;
        }
        event.stopImmediatePropagation();
        if (event.type === 'load') void read(xhr, request.id);
      };
      for (const type of ['readystatechange', 'progress', 'load', 'loadend']) xhr.addEventListener(type, hold);
      return xhr;
    },
  });
  globalThis.XMLHttpRequest = Offered;
  prototype.constructor = Offered;
  prototype.open = new Proxy(prototype.open, {
    apply(target, self: XMLHttpRequest, args: Parameters<XMLHttpRequest['open']>) {
      const answer = Reflect.apply(target, self, args);
      reading.get(self)?.('open');
      opened.set(self, { url: urlOf(args[1]), blocks: args.length > 2 && !args[2] });
      showOwn(self, 'readyState', 'status', 'statusText', 'response', 'responseText');
      sent.delete(self);
      return answer;
    },
  });
  prototype.send = new Proxy(prototype.send, {
    apply(target, self: XMLHttpRequest, args: Parameters<XMLHttpRequest['send']>) {
      const { url = null, blocks } = opened.get(self) ?? {};
      // One that blocks the page cannot wait for pieces.
      if (url !== null && blocks) answers.takeWhole(url);
      else if (url !== null) sent.set(self, answers.begin(url));
      return Reflect.apply(target, self, args);
    },
  });
  prototype.abort = new Proxy(prototype.abort, {
    apply(target, self: XMLHttpRequest, args: []) {
      const stop = reading.get(self);
      if (stop) stop('abort');
      else Reflect.apply(target, self, args);
    },
  });

  /** Reads the body, dispatching what the browser would. Never rejects. */
  async function read(xhr: XMLHttpRequest, id: string): Promise<void> {
    const body = new Body(xhr);
    const total = Number(
      xhr.getResponseHeader('content-encoding') ? 0 : (xhr.getResponseHeader('content-length') ?? 0),
    );
    const progress = (type: string, loaded: number) =>
      xhr.dispatchEvent(new ProgressEvent(type, { lengthComputable: total > 0, loaded, total }));
    const abort = new AbortController();
    let stopped: Stop | null = null as Stop | null;
    reading.set(xhr, (why) => {
      stopped = why;
      abort.abort();
    });
    const reader = answers.body(id, abort.signal).getReader();
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
    reading.delete(xhr);
    // Of no interest to anybody.
    if (stopped === 'open') return;
    showOwn(xhr, 'readyState');
    show(xhr, stopped ? { status: 0, statusText: '', ...body.none() } : await body.whole());
    const size = stopped ? 0 : body.size;
    xhr.dispatchEvent(new Event('readystatechange'));
    progress(stopped ?? 'load', size);
    progress('loadend', size);
  }
}

/** The body of a response, in the form that the page has asked for. */
class Body {
  readonly #xhr: XMLHttpRequest;
  readonly #decoder: TextDecoder;
  readonly #parts: Uint8Array<ArrayBuffer>[] = [];
  #text = '';
  /** Of what has come, in bytes. */
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

  /** What may be seen of it before its end. */
  soFar(): object {
    return this.#isText ? { responseText: this.#text, response: this.#text } : {};
  }

  /** After a failure. */
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
        return parsed(this.#text);
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Lets properties of the browser's own have other values. */
function show(xhr: XMLHttpRequest, values: object): void {
  for (const [name, value] of Object.entries(values)) Object.defineProperty(xhr, name, { configurable: true, value });
}

/** Lets them have the browser's values again. */
function showOwn(xhr: XMLHttpRequest, ...names: (keyof XMLHttpRequest)[]): void {
  for (const name of names) Reflect.deleteProperty(xhr, name);
}

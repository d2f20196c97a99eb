/**
 * Lets `fetch` and `XMLHttpRequest` take answers that come in parts, or are too large for the browser to be handed: the
 * transport offers one by its URL, has the request answered without a body, and gives the body in pieces, each when it is
 * asked for.
 */
export const LARGE_ANSWER_SHIM = `(tell) => {
  // Requests under way, oldest first; \`id\` is that of the offer.
  const requests = [];
  const takers = new Map();

  // Null for what is none, and for what cannot be read without the page noticing.
  const urlOf = (resource) => {
    const text = resource instanceof Request ? resource.url : resource instanceof URL ? resource.href : resource;
    if (typeof text !== 'string' || !URL.canParse(text, document.baseURI)) return null;
    const url = new URL(text, document.baseURI);
    url.hash = '';
    return url.href;
  };
  const begin = (url) => {
    const request = { url, id: null };
    requests.push(request);
    return request;
  };
  const end = (request) => {
    const at = requests.indexOf(request);
    if (at !== -1) requests.splice(at, 1);
    return request.id;
  };
  const drop = (id) => {
    takers.get(id)?.({ failed: true });
    tell({ op: 'drop', id });
  };
  const bytesOf = (base64) => {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
    return bytes;
  };
  const bodyOf = (id, signal) => new ReadableStream({
    start(controller) {
      const abort = () => { controller.error(signal.reason); drop(id); };
      if (signal?.aborted) abort();
      else signal?.addEventListener('abort', abort);
    },
    async pull(controller) {
      const { data, last, failed } = await new Promise((resolve) => { takers.set(id, resolve); tell({ op: 'more', id }); });
      takers.delete(id);
      if (signal?.aborted) return;
      if (failed) return controller.error(new TypeError('network error'));
      if (data) controller.enqueue(bytesOf(data));
      if (last) controller.close();
    },
    cancel() { drop(id); },
  }, { highWaterMark: 0 });

  const whole = (response, id, signal) => {
    // An answer that may not be read stays one.
    if (response.type === 'opaque') {
      drop(id);
      return response;
    }
    const { status, statusText, headers, url, type, redirected } = response;
    // It is empty, and for the browser not over before it is read.
    response.arrayBuffer().catch(() => undefined);
    const full = new Response(bodyOf(id, signal), { status, statusText, headers });
    return Object.defineProperties(full, { url: { value: url }, type: { value: type }, redirected: { value: redirected } });
  };
  globalThis.fetch = new Proxy(globalThis.fetch, {
    apply(target, self, args) {
      const url = args.length > 0 ? urlOf(args[0]) : null;
      if (url === null) return Reflect.apply(target, self, args);
      const request = begin(url);
      const signal = args[1]?.signal ?? (args[0] instanceof Request ? args[0].signal : null);
      return Reflect.apply(target, self, args).then(
        (response) => {
          const id = end(request);
          return id === null ? response : whole(response, id, signal);
        },
        (error) => {
          const id = end(request);
          if (id !== null) drop(id);
          throw error;
        },
      );
    },
  });

  // By XMLHttpRequest: its URL once it is opened, its request once it is sent.
  const opened = new WeakMap();
  const sent = new WeakMap();
  // Of each whose body is still to come: how to end it.
  const reading = new WeakMap();
  const show = (xhr, shown) => {
    for (const [name, value] of Object.entries(shown)) Object.defineProperty(xhr, name, { configurable: true, value });
  };
  const unshow = (xhr, ...names) => { for (const name of names) delete xhr[name]; };
  const finish = async (xhr, id) => {
    const kind = xhr.responseType;
    const isText = kind === '' || kind === 'text';
    const total = Number(xhr.getResponseHeader('content-encoding') ? 0 : xhr.getResponseHeader('content-length') ?? 0);
    const progress = (type, loaded) => xhr.dispatchEvent(new ProgressEvent(type, { lengthComputable: total > 0, loaded, total }));
    const [, charset = 'utf-8'] = /charset="?([^";]+)/i.exec(xhr.getResponseHeader('content-type') ?? '') ?? [];
    let decoder;
    try { decoder = new TextDecoder(charset); } catch { decoder = new TextDecoder(); }
    const abort = new AbortController();
    let how = null;
    reading.set(xhr, (why) => { how = why; abort.abort(); });
    const reader = bodyOf(id, abort.signal).getReader();
    const parts = [];
    let text = '';
    let loaded = 0;
    show(xhr, { readyState: 3, ...(isText && { responseText: '', response: '' }) });
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        loaded += value.length;
        if (kind === 'arraybuffer' || kind === 'blob') parts.push(value);
        else text += decoder.decode(value, { stream: true });
        if (isText) show(xhr, { responseText: text, response: text });
        xhr.dispatchEvent(new Event('readystatechange'));
        progress('progress', loaded);
      }
    } catch {
      how ??= 'error';
    }
    reading.delete(xhr);
    // Opened anew: of no interest to anybody.
    if (how === 'open') return;
    unshow(xhr, 'readyState');
    if (how) {
      show(xhr, { status: 0, statusText: '', response: isText ? '' : null, ...(isText && { responseText: '' }) });
    } else {
      text += decoder.decode();
      let body = text;
      if (kind === 'arraybuffer') body = await new Blob(parts).arrayBuffer();
      if (kind === 'blob') body = new Blob(parts, { type: xhr.getResponseHeader('content-type') ?? '' });
      if (kind === 'json') try { body = JSON.parse(text); } catch { body = null; }
      if (kind === 'document') body = new DOMParser().parseFromString(text, 'text/html');
      show(xhr, { response: body, ...(isText && { responseText: text }) });
    }
    xhr.dispatchEvent(new Event('readystatechange'));
    progress(how ?? 'load', how ? 0 : loaded);
    progress('loadend', how ? 0 : loaded);
  };
  const Native = globalThis.XMLHttpRequest;
  const { prototype } = Native;
  prototype.constructor = globalThis.XMLHttpRequest = new Proxy(Native, {
    construct(target, args, newTarget) {
      const xhr = Reflect.construct(target, args, newTarget);
      // Before any listener of the page: the body comes after the browser takes the request for finished.
      const hold = (event) => {
        const request = sent.get(xhr);
        if (!request || !event.isTrusted) return;
        if (event.type === 'loadend') end(request);
        if (request.id === null || xhr.readyState < 3) return;
        if (xhr.status === 0) {
          drop(request.id);
          request.id = null;
          return;
        }
        event.stopImmediatePropagation();
        if (event.type === 'load') void finish(xhr, request.id);
      };
      for (const type of ['readystatechange', 'progress', 'load', 'loadend']) xhr.addEventListener(type, hold);
      return xhr;
    },
  });
  prototype.open = new Proxy(prototype.open, {
    apply(target, self, args) {
      const answer = Reflect.apply(target, self, args);
      reading.get(self)?.('open');
      opened.set(self, { url: urlOf(args[1]), blocks: args.length > 2 && !args[2] });
      unshow(self, 'readyState', 'status', 'statusText', 'response', 'responseText');
      sent.delete(self);
      return answer;
    },
  });
  prototype.send = new Proxy(prototype.send, {
    apply(target, self, args) {
      const { url = null, blocks } = opened.get(self) ?? {};
      // One that blocks the page cannot wait for pieces.
      if (url !== null && blocks) tell({ op: 'block', url });
      else if (url !== null) sent.set(self, begin(url));
      return Reflect.apply(target, self, args);
    },
  });
  prototype.abort = new Proxy(prototype.abort, {
    apply(target, self, args) {
      const stop = reading.get(self);
      if (stop) stop('abort');
      else Reflect.apply(target, self, args);
    },
  });

  return ({ op, id, url, ...piece }) => {
    if (op === 'piece') return takers.get(id)?.(piece);
    const request = requests.find((one) => one.url === url && one.id === null);
    if (request) request.id = id;
    return request !== undefined;
  };
}`;

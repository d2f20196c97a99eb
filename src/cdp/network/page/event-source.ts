import { eventStreamReader } from './event-stream.ts';
import { type OfferedResponses, urlOf } from './offered-responses.ts';

/** What a source remembers from one stream to the next. */
interface Known {
  id: string | undefined;
  /** In ms. */
  retry: number | undefined;
}

/**
 * Lets the browser's own `EventSource` read its stream as it arrives. The browser would only get it at its end, so its
 * request stays pending: events are dispatched here, and at the end the browser gets what it needs to reconnect.
 */
export function listenOffered(responses: OfferedResponses): void {
  /** For each source that is reading: a function that stops it. */
  const reading = new WeakMap<EventSource, () => void>();

  const Native = globalThis.EventSource;
  const { prototype } = Native;
  const { CLOSED, OPEN } = Native;
  prototype.close = new Proxy(prototype.close, {
    apply(target, self: EventSource, args: []) {
      reading.get(self)?.();
      return Reflect.apply(target, self, args);
    },
  });
  const Offered = new Proxy(Native, {
    construct(target, args, newTarget) {
      const source: EventSource = Reflect.construct(target, args, newTarget);
      follow(source);
      return source;
    },
  });
  prototype.constructor = Offered;
  globalThis.EventSource = Offered;

  function follow(source: EventSource): void {
    const url = urlOf(source.url);
    if (url === null) return;
    const request = responses.begin(url);
    const known: Known = { id: undefined, retry: undefined };
    // When the browser gets the end, it fires `open` again, which the page has already seen.
    let isOver = false;
    source.addEventListener('open', (event) => {
      if (event.isTrusted && isOver) event.stopImmediatePropagation();
      if (event.isTrusted) isOver = false;
    });
    source.addEventListener('error', () => {
      if (source.readyState === CLOSED) responses.end(request);
    });
    const leave = () => {
      reading.delete(source);
      Reflect.deleteProperty(source, 'readyState');
    };
    request.onOffer = async (id, origin) => {
      const abort = new AbortController();
      reading.set(source, () => {
        leave();
        responses.end(request);
        abort.abort();
      });
      // The browser's own source is still connecting.
      Object.defineProperty(source, 'readyState', { configurable: true, value: OPEN });
      await null;
      if (reading.has(source)) source.dispatchEvent(new Event('open'));
      await read(source, known, responses.body(id, abort.signal), origin).catch(() => undefined);
      if (!reading.has(source)) return;
      leave();
      isOver = true;
      request.id = null;
      responses.ended(id, known);
    };
  }

  async function read(
    source: EventSource,
    known: Known,
    body: ReadableStream<Uint8Array<ArrayBuffer>>,
    origin: string,
  ): Promise<void> {
    const feed = eventStreamReader({
      onId: (id) => {
        known.id = id;
      },
      onRetry: (ms) => {
        known.retry = ms;
      },
      onEvent: (type, data) => {
        // A listener may have closed it.
        if (!reading.has(source)) return;
        source.dispatchEvent(new MessageEvent(type, { data, origin, lastEventId: known.id ?? '' }));
      },
    });
    for await (const text of body.pipeThrough(new TextDecoderStream())) {
      if (!reading.has(source)) return;
      feed(text);
    }
  }
}

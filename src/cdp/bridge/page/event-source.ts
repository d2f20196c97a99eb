import { createParser } from 'eventsource-parser';
import { type OfferedAnswers, urlOf } from './offered-answers.ts';

/** What a source keeps from one stream to the next. */
interface Known {
  id: string | undefined;
  /** In ms. */
  retry: number | undefined;
}

/**
 * Lets the browser's own `EventSource` take its stream as it comes. The browser, which would have it at its end, is kept
 * waiting: here the events are dispatched, and at the end the browser is handed what it must know to reconnect.
 */
export function listenOffered(answers: OfferedAnswers): void {
  /** Of each source that is reading: how to stop it. */
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
    const request = answers.begin(url);
    const known: Known = { id: undefined, retry: undefined };
    // The browser opens it once more when it is handed the end; the page has seen that.
    let isOver = false;
    source.addEventListener('open', (event) => {
      if (event.isTrusted && isOver) event.stopImmediatePropagation();
      if (event.isTrusted) isOver = false;
    });
    source.addEventListener('error', () => {
      if (source.readyState === CLOSED) answers.end(request);
    });
    const leave = () => {
      reading.delete(source);
      Reflect.deleteProperty(source, 'readyState');
    };
    request.onOffer = async (id, origin) => {
      const abort = new AbortController();
      reading.set(source, () => {
        leave();
        answers.end(request);
        abort.abort();
      });
      // The browser's own is waiting.
      Object.defineProperty(source, 'readyState', { configurable: true, value: OPEN });
      await null;
      if (reading.has(source)) source.dispatchEvent(new Event('open'));
      await read(source, known, answers.body(id, abort.signal), origin).catch(() => undefined);
      if (!reading.has(source)) return;
      leave();
      isOver = true;
      request.id = null;
      answers.ended(id, known);
    };
  }

  async function read(
    source: EventSource,
    known: Known,
    body: ReadableStream<Uint8Array<ArrayBuffer>>,
    origin: string,
  ): Promise<void> {
    const parser = createParser({
      onId: (id) => {
        known.id = id;
      },
      onRetry: (ms) => {
        known.retry = ms;
      },
      onEvent: ({ event: type = 'message', data }) => {
        // A listener may have closed it.
        if (!reading.has(source)) return;
        source.dispatchEvent(new MessageEvent(type, { data, origin, lastEventId: known.id ?? '' }));
      },
    });
    for await (const text of body.pipeThrough(new TextDecoderStream())) {
      if (!reading.has(source)) return;
      parser.feed(text);
    }
  }
}

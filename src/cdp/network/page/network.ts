import { listenOffered } from './event-source.ts';
import { OfferedResponses, type OfferMessage, urlOf } from './offered-responses.ts';
import { proxyWebSockets, type SocketMessage } from './web-socket.ts';
import { requestOffered } from './xml-http-request.ts';

/** What the transport passes to each document or worker together with the script. */
interface Given {
  /** Name of the binding that takes the page's messages. */
  binding: string;
  /** Name of the symbol through which the page takes the transport's messages. */
  mailbox: string;
  /** Regular expressions for `host:port` of what may become proxied. */
  hostExpressions: string[];
  /** The same of what every page reaches, also one without an origin that a test has filled. */
  everywhere: string[];
}

/** Sets what is proxied, as regular expressions for `host:port`. */
interface ReachMessage {
  op: 'reach';
  hostExpressions: string[];
}

/**
 * Runs in each document before its own scripts and those of the test, and in workers. In documents of hosts that may be
 * proxied, `fetch`, `XMLHttpRequest`, `EventSource` and `WebSocket` take what the transport offers them. In workers and
 * in pages without an address, only `WebSocket` does. Other documents stay unchanged.
 * @returns takes the transport's messages
 */
export function run({ binding, mailbox, hostExpressions, everywhere }: Given): unknown {
  const scope = globalThis as unknown as Record<string, ((text: string) => void) | undefined>;
  const post = scope[binding];
  // Scripts of the page must not see it.
  delete scope[binding];
  if (!post) return undefined;
  const notify = (message: object) => post(JSON.stringify(message));
  // An empty frame has its parent's origin.
  if (!URL.canParse(self.origin))
    return everywhere.length > 0 && isPageOfTest() ? onlySockets(notify, everywhere, mailbox) : undefined;
  if (!matcherOf(hostExpressions)(new URL(self.origin))) return undefined;
  let isProxied = matcherOf([]);
  const takeOfSocket = proxyWebSockets(notify, (url) => isProxied(url));
  explainUpdates((url) => isProxied(url));
  const responses = new OfferedResponses(notify);
  if (globalThis.document) {
    fetchOffered(responses);
    requestOffered(responses);
    listenOffered(responses);
  }
  const take = (message: OfferMessage | SocketMessage | ReachMessage) => {
    if (message.op === 'offer' || message.op === 'piece') return responses.take(message);
    if (message.op !== 'reach') return takeOfSocket(message);
    isProxied = matcherOf(message.hostExpressions);
    return undefined;
  };
  Object.defineProperty(globalThis, Symbol.for(mailbox), { value: take });
  return take;
}

/** Whether a document without an origin may be a test's page: the transport knows for sure. */
function isPageOfTest(): boolean {
  return self.top === self && /^(about:blank|data:)/.test(location.href);
}

/** In a document without an origin. What others reach does not concern it. */
function onlySockets(notify: (message: object) => void, hosts: string[], mailbox: string): unknown {
  const takeOfSocket = proxyWebSockets(notify, matcherOf(hosts));
  const take = (message: OfferMessage | SocketMessage | ReachMessage) =>
    message.op === 'offer' || message.op === 'piece' || message.op === 'reach' ? undefined : takeOfSocket(message);
  Object.defineProperty(globalThis, Symbol.for(mailbox), { value: take });
  return take;
}

/**
 * To update a service worker, the browser process requests its script, which CDP cannot pause: on a server that only
 * this machine reaches, this fails. The page learns why.
 */
function explainUpdates(isProxied: (url: URL) => boolean): void {
  // Only documents with a secure origin have service workers.
  const prototype = globalThis.ServiceWorkerRegistration?.prototype;
  const update = prototype?.update;
  if (!update) return;
  prototype.update = async function (this: ServiceWorkerRegistration) {
    try {
      return await update.call(this);
    } catch (error) {
      if (!(error instanceof TypeError) || !isProxied(new URL(this.scope))) throw error;
      throw new TypeError(
        `${error.message} poolwright: the browser requests the new script itself, past exposeNetwork; a new context gets it.`,
      );
    }
  };
}

function matcherOf(hostExpressions: string[]): (url: URL) => boolean {
  const tests = hostExpressions.map((expression) => new RegExp(expression));
  return ({ hostname, port, protocol }) => {
    const host = `${hostname}:${port || (protocol === 'https:' || protocol === 'wss:' ? 443 : 80)}`;
    return tests.some((test) => test.test(host));
  };
}

/** Lets `fetch` take offered responses. */
function fetchOffered(responses: OfferedResponses): void {
  globalThis.fetch = new Proxy(globalThis.fetch, {
    apply(target, self, args: Parameters<typeof fetch>) {
      const url = args.length > 0 ? urlOf(args[0]) : null;
      if (url === null) return Reflect.apply(target, self, args);
      const request = responses.begin(url);
      const signal = args[1]?.signal ?? (args[0] instanceof Request ? args[0].signal : null);
      return Reflect.apply(target, self, args).then(
        (response) => {
          const id = responses.end(request);
          return id === null ? response : whole(response, id, signal, responses);
        },
        (error: unknown) => {
          const id = responses.end(request);
          if (id !== null) responses.drop(id);
          throw error;
        },
      );
    },
  });
}

function whole(response: Response, id: string, signal: AbortSignal | null, responses: OfferedResponses): Response {
  const body = responses.body(id, signal);
  // An opaque response must stay opaque: its body is read on for the server and the client only.
  if (response.type === 'opaque') return response;
  const { status, statusText, headers, url, type, redirected } = response;
  // It is empty, but the browser considers it unfinished until it is read.
  response.arrayBuffer().catch(() => undefined);
  const full = new Response(body, { status, statusText, headers });
  return Object.defineProperties(full, {
    url: { value: url },
    type: { value: type },
    redirected: { value: redirected },
  });
}

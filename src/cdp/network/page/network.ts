import { listenOffered } from './event-source.ts';
import { fetchOffered } from './fetch.ts';
import { OfferedResponses, type OfferMessage } from './offered-responses.ts';
import { proxyWebSockets, type SocketMessage } from './web-socket.ts';
import { requestOffered } from './xml-http-request.ts';

/** What the transport passes to each document together with the script. */
interface Given {
  /** Name of the binding that takes the page's messages. */
  binding: string;
  /** Name of the symbol through which the page takes the transport's messages. */
  mailbox: string;
  /** Regular expressions for `host:port` of what is proxied. */
  hostExpressions: string[];
}

/**
 * Runs in each document before its own scripts. In documents of proxied hosts, `fetch`, `XMLHttpRequest`, `EventSource`
 * and `WebSocket` take what the transport offers them; other documents stay unchanged.
 */
export function run({ binding, mailbox, hostExpressions }: Given): void {
  const scope = globalThis as unknown as Record<string, ((text: string) => void) | undefined>;
  const post = scope[binding];
  // Scripts of the page must not see it.
  delete scope[binding];
  const tests = hostExpressions.map((expression) => new RegExp(expression));
  const isProxied = ({ hostname, port, protocol }: URL) => {
    const host = `${hostname}:${port || (protocol === 'https:' || protocol === 'wss:' ? 443 : 80)}`;
    return tests.some((test) => test.test(host));
  };
  // An empty frame has its parent's origin; documents with an opaque origin stay unchanged.
  if (!post || !URL.canParse(self.origin) || !isProxied(new URL(self.origin))) return;
  const notify = (message: object) => post(JSON.stringify(message));
  const takeOfSocket = proxyWebSockets(notify, isProxied);
  const responses = new OfferedResponses(notify);
  fetchOffered(responses);
  requestOffered(responses);
  listenOffered(responses);
  const take = (message: OfferMessage | SocketMessage) =>
    message.op === 'offer' || message.op === 'piece' ? responses.take(message) : takeOfSocket(message);
  Object.defineProperty(globalThis, Symbol.for(mailbox), { value: take });
}

/** Tells the transport something that JSON can hold. */
export type Tell = (message: object) => void;

/** What a document is told, by the transport; what it makes of it is the answer. */
export type Take<Message> = (message: Message) => unknown;

/** What the transport gives each document with the script. */
export interface Given {
  /** Name of the binding that takes what the page says. */
  binding: string;
  /** Name of the symbol under which the page takes what it is told. */
  mailbox: string;
  /** Regular expressions for `host:port` of what is listed. */
  hostExpressions: string[];
}

/**
 * Runs in each document before its own scripts. It does something in documents of listed hosts, and leaves nothing behind
 * elsewhere.
 */
export function begin<Message>(
  { binding, mailbox, hostExpressions }: Given,
  start: (tell: Tell, isListed: (url: URL) => boolean) => Take<Message>,
): void {
  const scope = globalThis as unknown as Record<string, ((text: string) => void) | undefined>;
  const say = scope[binding];
  // No script of the page may see it.
  delete scope[binding];
  const tests = hostExpressions.map((expression) => new RegExp(expression));
  const isListed = ({ hostname, port, protocol }: URL) => {
    const host = `${hostname}:${port || (protocol === 'https:' || protocol === 'wss:' ? 443 : 80)}`;
    return tests.some((test) => test.test(host));
  };
  // An empty frame has the origin of its parent; what has none of its own stays as it is.
  if (!say || !URL.canParse(self.origin) || !isListed(new URL(self.origin))) return;
  const take = start((message) => say(JSON.stringify(message)), isListed);
  Object.defineProperty(globalThis, Symbol.for(mailbox), { value: take });
}

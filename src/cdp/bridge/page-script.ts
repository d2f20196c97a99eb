/** Names that page and transport share; drawn anew for each link. */
export interface PageNames {
  /** Of the binding that takes what the page says. It is gone before any script of the page runs. */
  binding: string;
  /** Of the symbol under which the page takes what it is told. */
  mailbox: string;
}

/**
 * What runs in each document before its own scripts. It does something in documents of listed hosts, and leaves nothing
 * behind elsewhere.
 * @param body source of `(tell, listed) => take`: `tell` sends a message, `listed` judges a URL, `take` is what receives
 */
export function pageScript({ binding, mailbox }: PageNames, hostExpressions: readonly string[], body: string): string {
  return `(${FRAME})(${[binding, mailbox, hostExpressions].map((value) => JSON.stringify(value)).join()}, ${body});`;
}

const FRAME = `(binding, mailbox, hostExpressions, begin) => {
  const tell = globalThis[binding];
  delete globalThis[binding];
  const tests = hostExpressions.map((expression) => new RegExp(expression));
  const listed = ({ hostname, port, protocol }) => {
    const host = hostname + ':' + (port || (protocol === 'https:' || protocol === 'wss:' ? 443 : 80));
    return tests.some((test) => test.test(host));
  };
  // An empty frame has the origin of its parent; what has none of its own stays as it is.
  if (!tell || !URL.canParse(self.origin) || !listed(new URL(self.origin))) return;
  const take = begin((message) => tell(JSON.stringify(message)), listed);
  Object.defineProperty(globalThis, Symbol.for(mailbox), { value: take });
}`;

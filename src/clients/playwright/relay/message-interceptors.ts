import type { ContextMode } from '../../../options/context-mode.ts';
import type { ConnectionSettings } from '../../../options/lease-plan.ts';
import { EarlyClose, type MessageOutput } from './early-close.ts';
import { EarlyWrites } from './early-writes.ts';
import { NextContext } from './next-context.ts';
import { NextPage } from './next-page.ts';

/** Something that messages of Playwright's protocol pass. */
export interface MessageInterceptor {
  fromClient(text: string): void;
  fromServer(text: string): void;
}

/** What is known about the relay and its browser. */
export interface MessageSurroundings {
  /** How many bytes have not left this process. */
  queued(): number;
  /** Whether the browser's pages have separate windows. */
  haveWindows(): boolean;
}

/** How messages pass from the client to the relay and back, in order from the client. */
export function messageInterceptors(
  { ahead, reuse }: ConnectionSettings,
  { persistent }: ContextMode,
  output: MessageOutput,
  { queued, haveWindows }: MessageSurroundings,
): MessageInterceptor {
  const list: ((output: MessageOutput) => MessageInterceptor)[] = [];
  // A persistent context is cleared and reused, not created; a browser for one test has no next context.
  const hasNext = ahead && !persistent && reuse !== 'test';
  // Closest to the client: it must not see that a context is still being closed.
  if (hasNext) list.push((next) => new EarlyClose(next));
  if (ahead) list.push((next) => new EarlyWrites(next, queued));
  // Closest to the server: nothing else may see objects that the client does not have.
  if (hasNext) {
    let pages: NextPage;
    list.push((next) => new NextContext(next, (context) => pages.prepare(context)));
    list.push((next) => {
      pages = new NextPage(next, haveWindows);
      return pages;
    });
  }
  return chained(list, output);
}

function chained(
  [make, ...rest]: ((output: MessageOutput) => MessageInterceptor)[],
  { toServer, toClient }: MessageOutput,
): MessageInterceptor {
  if (!make) return { fromClient: toServer, fromServer: toClient };
  const own: MessageInterceptor = make({ toServer: (text) => others.fromClient(text), toClient });
  const others = chained(rest, { toServer, toClient: (text) => own.fromServer(text) });
  return { fromClient: (text) => own.fromClient(text), fromServer: (text) => others.fromServer(text) };
}

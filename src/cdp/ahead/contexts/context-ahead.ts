import type { CdpMessage } from '../../transport/message.ts';

/** A browser context that was made before the client asked for one, with a page in it that waits to be let run. */
export interface ContextAhead {
  /** Once the browser has made it. */
  contextId?: string;
  /** Who it is for: the next one who asks for it, one who has asked, or nobody any more. */
  state: 'stock' | 'taken' | 'dropped';
  /** `shown`: the client has asked for it. */
  page: 'none' | 'asked for' | 'shown';
  /** Of its page, once the browser has announced it. */
  sessionId?: string;
  /** Of all that came with it: full Chromium has targets for parts of the page's window, too. */
  readonly sessions: Set<string>;
  /** What the client is told when it asks for the page, in order. */
  readonly held: CdpMessage[];
  /** What was sent for it, as the client has to ask for it. */
  readonly keys: Set<string>;
}

import type { ProtocolMapping } from 'devtools-protocol/types/protocol-mapping.js';
import type { BrowserModel } from '../model/browser-model.ts';
import type { CdpMessage } from './message.ts';

/**
 * One concern of a transport. Interceptors stand in a list between the client (Playwright, Puppeteer) and the browser.
 * A command passes them from the client to the browser, first to last; an answer or an event passes them from the
 * browser to the client, last to first.
 *
 * Both methods return what goes on to the next one: the same object for what is none of their business, another one to
 * change it, null to end its way here. They are called for every message of a link, so they decide by `method` first.
 * They must not throw, and must take data from the browser for what it is: anything.
 */
export interface Interceptor {
  /**
   * A command on its way to the browser. An interceptor that returns null for it answers it exactly once, now or later,
   * by {@link InterceptorLink.deliver}.
   */
  onCommand?(command: CdpMessage): CdpMessage | null;
  /** An answer or event on its way to the client. An interceptor that returns null drops it, or delivers it later. */
  onMessage?(message: CdpMessage): CdpMessage | null;
  /** The link is down. Called once; commands of the interceptor's own have been rejected by then. */
  end?(): void;
}

/** Makes an interceptor, which has the link from its position in the list. Nothing is sent or delivered before it returns. */
export type InterceptorFactory = (link: InterceptorLink) => Interceptor;

type Commands = ProtocolMapping.Commands;

/** Parameters of a command. */
export type CommandParams<Method extends keyof Commands> = Commands[Method]['paramsType'] extends []
  ? Record<string, never>
  : Commands[Method]['paramsType'][0];

/**
 * Commands of an interceptor's own. They go straight to the browser, and their answers straight back: no other
 * interceptor sees either. (A page that one opens for itself must not become the persistent context's.)
 */
export interface BrowserCommands {
  /**
   * Sends a command and returns its `result`, which is data from the wire.
   * @throws PoolwrightError `SERVICE_BAD_RESPONSE` when the browser refuses, `BROWSER_LOST` when the link closed,
   * `TIMEOUT` after 60 s
   */
  call<Method extends keyof Commands>(
    method: Method,
    params?: CommandParams<Method>,
    sessionId?: string,
  ): Promise<unknown>;
  /** Sends a command whose answer does not matter. */
  post<Method extends keyof Commands>(method: Method, params?: CommandParams<Method>, sessionId?: string): void;
}

/** What an interceptor can do on the link, from its position in the list. */
export interface InterceptorLink extends BrowserCommands {
  /** What there is in the browser. What an interceptor keeps of a session or world hangs on that, and goes with it. */
  readonly model: BrowserModel;
  /**
   * Sends a message on to the client, as if the browser had sent it: through the interceptors between this one and the
   * client, not through this one. Two delivered one after the other arrive in that order with nothing in between. So
   * to insert a message before another, deliver it and return the other; to insert one after it, deliver both and return
   * null. What is delivered while a command is on its way arrives in a task of its own: a client expects no answer
   * before its `send` has returned.
   */
  deliver(message: CdpMessage): void;
  /**
   * Sends a command on to the browser, as if the client had sent it: through the interceptors between this one and the
   * browser, not through this one. Its answer passes them on its way back and comes to `onMessage` of this interceptor,
   * with the ID that this returns. An answer that no interceptor ends is dropped: it never reaches the client.
   * @param command without an ID
   */
  send(command: Omit<CdpMessage, 'id'>): number;
}

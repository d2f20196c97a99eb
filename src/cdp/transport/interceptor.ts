import type { ProtocolMapping } from 'devtools-protocol/types/protocol-mapping.js';
import type { CdpMessage } from '../message.ts';
import type { BrowserModel } from '../model/browser-model.ts';
import type { ClientView } from '../model/client-view.ts';
import type { PendingCommand } from './pending-commands.ts';

/**
 * One concern of a transport. Interceptors form a list between the client (Playwright, Puppeteer) and the browser. A
 * command passes them from the client to the browser, first to last; a response or an event passes them from the
 * browser to the client, last to first.
 *
 * Both methods return the message to pass on: the same object to leave it unchanged, another object to change it, null
 * to stop it here. They are called for every message of a connection, so they check `method` first. They must not
 * throw, and must not trust the shape of data from the browser.
 */
export interface Interceptor {
  /**
   * Handles a command on its way to the browser. An interceptor that returns null must respond to it exactly once, now
   * or later, with {@link InterceptorTransport.deliver}, or send it on with {@link InterceptorTransport.pass}.
   */
  onCommand?(command: CdpMessage): CdpMessage | null;
  /**
   * Handles a response or event on its way to the client. An interceptor that returns null drops it, or delivers it
   * later.
   */
  onMessage?(message: CdpMessage): CdpMessage | null;
  /** The connection has closed. Called once, after the interceptor's own commands have been rejected. */
  end?(): void;
}

/** Creates an interceptor at its position in the list. Nothing may be sent or delivered before it returns. */
export type InterceptorFactory = (transport: InterceptorTransport) => Interceptor;

type Commands = ProtocolMapping.Commands;

export type CommandParams<Method extends keyof Commands> = Commands[Method]['paramsType'] extends []
  ? Record<string, never>
  : Commands[Method]['paramsType'][0];

/**
 * An interceptor's own commands. They go straight to the browser, and their responses straight back: no other
 * interceptor sees either. (A page that one interceptor opens for itself must not become a page of the persistent
 * context.)
 */
export interface BrowserCommands {
  /**
   * Sends a command and returns its `result`, unvalidated.
   * @throws PoolwrightError `SERVICE_BAD_RESPONSE` when the browser rejects it, `BROWSER_LOST` when the connection
   * closes, `TIMEOUT` after 60 s
   */
  call<Method extends keyof Commands>(
    method: Method,
    params?: CommandParams<Method>,
    sessionId?: string,
  ): Promise<unknown>;
  /** Sends a command without waiting for its response. */
  post<Method extends keyof Commands>(method: Method, params?: CommandParams<Method>, sessionId?: string): void;
}

/** The transport as an interceptor uses it at its position in the list. */
export interface InterceptorTransport extends BrowserCommands {
  /**
   * The state of the browser. Interceptors attach their own state to its sessions and worlds; it is removed with them.
   */
  readonly model: BrowserModel;
  /** The part of that state that the client sees. */
  readonly view: ClientView;
  /** Whether such a command, of the client or an interceptor, has no response yet, no matter where it is. */
  isPending(which: (command: PendingCommand) => boolean): boolean;
  /**
   * Delivers a message to the client as if the browser had sent it: it passes the interceptors between this one and the
   * client, but not this one. Two messages delivered in a row arrive in that order with nothing in between. So to
   * insert a message before another, deliver it and return the other; to insert one after it, deliver both and return
   * null. A message delivered while a command is being sent arrives in a separate task: a client expects no response
   * before its `send` has returned.
   */
  deliver(message: CdpMessage): void;
  /** Sends on a command of the client that this interceptor has held: as if it had passed this interceptor only now. */
  pass(command: CdpMessage): void;
  /**
   * Sends a command to the browser as if the client had sent it: it passes the interceptors between this one and the
   * browser, but not this one. Its response passes them on its way back and reaches this interceptor's `onMessage` with
   * the ID that this method returns. A response that no interceptor stops is dropped: it never reaches the client.
   * @param command without an ID
   */
  send(command: Omit<CdpMessage, 'id'>): number;
}

import type { CdpMessage } from '../message.ts';

/** A target of the browser: a page, an out-of-process frame, a worker, or the browser itself. */
export interface Target {
  /** For a page or a frame, also the ID of its (main) frame. */
  readonly id: string;
  readonly type: string;
  /** Its browser context; undefined if the browser does not report one. */
  readonly contextId: string | undefined;
  /** For a page, the ID of the frame that opened it, if any. */
  readonly openerId: string | undefined;
  /** Its first address. */
  readonly url: string;
  /** Of a page: its present address, as a session with an enabled Page domain reports it. */
  address: string;
  /** Of a page: it has had a document from elsewhere, not only empty ones and `data:`, which a client opens. */
  hasBeenElsewhere: boolean;
  /** Its process has crashed, and it has no other one yet. */
  isCrashed: boolean;
  /** Of a page with an open dialog: the session that reported it first, and can answer it. */
  dialogSession: Session | undefined;
  /** Its sessions, oldest first. Each of them gets the target's events. */
  readonly sessions: Set<Session>;
}

/** A CDP session: an attachment to a target. */
export interface Session {
  readonly id: string;
  readonly target: Target;
  /** The session that announced it; undefined if the browser's root session did. */
  readonly parent: Session | undefined;
  /** The sessions that it announced. They end with it, without events. */
  readonly children: Set<Session>;
  /** JavaScript contexts as reported in this session. */
  readonly worlds: Map<number, World>;
  /**
   * The client itself uses this session for the target: it is not ours, and no test has opened it in addition, or from
   * another session that it has opened.
   */
  isClients: boolean;
  /** The client has received the session's announcement, but not its end. */
  isShown: boolean;
  /** Why its events do not reach the client; see {@link ClientView}. */
  veil: Veil | undefined;
}

/** Why the client does not see a session. */
export type Veil =
  /** Its target is for our own commands or unused: interceptors do not see it either. */
  | { readonly state: 'ours'; readonly keepsPages: boolean }
  /** The client never sees it, or believes that it has ended. */
  | { readonly state: 'hidden' }
  /** The client will see it later. */
  | { readonly state: 'held'; readonly messages: CdpMessage[] };

/** A JavaScript context as reported in one session (`Runtime.executionContextCreated`). */
export interface World {
  readonly session: Session;
  /** Unique in its process; another world can have the same ID after the page changes its process. */
  readonly id: number;
  /** Globally unique: a command that uses it reaches no other world. */
  readonly uniqueId: string;
  readonly name: string;
  /**
   * Origin of the document: `about:blank` inherits its creator's; a sandboxed or `data:` document has an opaque one.
   */
  readonly origin: string;
  /** The document's own scripts run in it, not those of a client or an extension. */
  readonly isDefault: boolean;
  /** Undefined in a worker. */
  readonly frameId: string | undefined;
}

/** The page that one of the client's own sessions belongs to; undefined for a worker without a page. */
export function pageOf(session: Session | undefined): Target | undefined {
  if (!session?.isClients) return undefined;
  return pageOf(session.parent) ?? (/^(page|iframe)$/.test(session.target.type) ? session.target : undefined);
}

export function withDescendants(session: Session): Session[] {
  return [session, ...[...session.children].flatMap(withDescendants)];
}

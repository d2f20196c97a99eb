/** A browser context that is created before the client asks for one. */
export interface PreparedContext {
  /**
   * `stock`: ready for the client. `taken`: the client has created it, but not its page yet. `shown`: its page, too.
   * `dropped`: the client will not ask for it, or for its page.
   */
  state: 'stock' | 'taken' | 'shown' | 'dropped';
  /** Set once the browser has created it. */
  contextId?: string;
  /** Session of its page, which waits for the debugger. */
  sessionId?: string;
  /** Keys of the commands sent for it, which the client must send. */
  readonly keys: Set<string>;
}

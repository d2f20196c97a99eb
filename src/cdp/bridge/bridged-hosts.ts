/** The hosts that pages reach through this machine. */
export interface BridgedHosts {
  /** Whether an address is on one of them. */
  matches(url: string): boolean;
  /** The same as URL globs of CDP's `Fetch.enable`; they may take in more, never less. */
  readonly urlPatterns: readonly string[];
  /** The same, exactly, as regular expressions for `host:port`. */
  readonly hostExpressions: readonly string[];
}

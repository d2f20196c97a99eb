/** The hosts that pages reach through this machine. */
export interface ProxiedHosts {
  /** Whether an address is on one of them. */
  matches(url: string): boolean;
  /** The hosts as URL globs for CDP's `Fetch.enable`; they may match more addresses, never fewer. */
  readonly urlPatterns: readonly string[];
  /** The exact hosts, as regular expressions for `host:port`. */
  readonly hostExpressions: readonly string[];
}

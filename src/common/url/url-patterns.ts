/** URL globs for CDP's `Fetch.enable`: addresses on a host, given as a glob. @param port null: every port */
export function urlPatternsOf(host: string, port: number | null): string[] {
  // A user name and password may precede it.
  if (port === null) return [`*://${host}/*`, `*://${host}:*`, `*://*@${host}/*`, `*://*@${host}:*`];
  // A URL does not name its scheme's own port.
  const own = port === 80 || port === 443 ? [`*://${host}/*`, `*://*@${host}/*`] : [];
  return [`*://${host}:${port}/*`, `*://*@${host}:${port}/*`, ...own];
}

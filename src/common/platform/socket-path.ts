/** Bytes of the longest path that a Unix socket may have: what `sun_path` holds, less the zero at its end. */
export function longestSocketPath(platform: NodeJS.Platform = process.platform): number {
  return (platform === 'linux' ? 108 : 104) - 1; // macOS and the BSDs have 104
}

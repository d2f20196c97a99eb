/** The programs that open a file in the user's browser. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['explorer.exe'],
  linux: ['xdg-open'],
};

/** The command that opens a file in the user's browser, to which its path is added; null on Linux without a screen. */
export function pageOpener(
  { DISPLAY, WAYLAND_DISPLAY }: NodeJS.ProcessEnv,
  platform: NodeJS.Platform,
): readonly [string, ...string[]] | null {
  if (platform === 'linux' && !DISPLAY && !WAYLAND_DISPLAY) return null;
  return OPENERS[platform] ?? null;
}

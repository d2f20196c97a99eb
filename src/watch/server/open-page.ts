import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entryHtml } from './page-html.ts';

/** A file that leads to the page. */
export interface OpenedPage {
  /** Removes the file. */
  remove(): void;
}

/** The programs that open a file in the user's browser. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
  linux: ['xdg-open'],
};

/**
 * Opens the page in the user's browser; null where there is none to see. Everybody on this machine can read the
 * arguments of a process, so that the address is passed in a file, which only this user may read.
 */
export function openPage(address: string): OpenedPage | null {
  const [command, ...args] = OPENERS[process.platform] ?? [];
  const { CI, DISPLAY, WAYLAND_DISPLAY } = process.env;
  const hasDisplay = process.platform !== 'linux' || Boolean(DISPLAY || WAYLAND_DISPLAY);
  if (command === undefined || !hasDisplay || CI) return null;
  const directory = mkdtempSync(join(tmpdir(), 'poolwright-watch-'));
  const file = join(directory, 'open.html');
  writeFileSync(file, entryHtml(address), { mode: 0o600 });
  const remove = () => rmSync(directory, { recursive: true, force: true });
  const child = spawn(command, [...args, file], { stdio: 'ignore', detached: true, windowsHide: true });
  // The address is printed, too.
  child.on('error', remove);
  child.unref();
  return { remove };
}

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pageOpener } from '../../common/platform/page-opener.ts';
import { inContinuousIntegration } from '../../options/environment.ts';
import { entryHtml } from './page-html.ts';

/** A file that leads to the page. */
export interface OpenedPage {
  /** Removes the file. */
  remove(): void;
}

/**
 * Opens the page in the user's browser; null where there is none to see. Everybody on this machine can read the
 * arguments of a process, so that the address is passed in a file, which only this user may read.
 */
export function openPage(address: string): OpenedPage | null {
  const [command, ...args] = pageOpener(process.env, process.platform) ?? [];
  if (command === undefined || inContinuousIntegration(process.env)) return null;
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

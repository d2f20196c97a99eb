import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { EmulatorError } from '../errors.ts';

/** Where a Chromium was found, and how. */
export interface FoundChromium {
  path: string;
  source: 'option' | 'POOLWRIGHT_CHROMIUM' | 'playwright' | 'system';
}

const VARIABLE = 'POOLWRIGHT_CHROMIUM';
const COMMANDS = ['google-chrome', 'google-chrome-stable', 'chromium', 'chromium-browser'];
const WAYS_OUT =
  `Get one with "npx playwright install chromium", or install Chrome or Chromium with the system's package manager ` +
  `(Debian, Ubuntu: "apt-get install chromium"); a browser in another place is named by the variable ${VARIABLE}.`;

/**
 * The Chromium to run: `explicit`, else the one `POOLWRIGHT_CHROMIUM` names, else Playwright's own download, else
 * the system's.
 * @throws EmulatorError `EMULATOR_NO_CHROMIUM`; its message says the ways to get one.
 */
export async function findChromium(
  explicit?: string,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<FoundChromium> {
  if (explicit) return { path: requireExecutable(explicit, 'The option "chromium"'), source: 'option' };
  const named = environment[VARIABLE];
  if (named) return { path: requireExecutable(named, `The variable ${VARIABLE}`), source: VARIABLE };
  const playwright = await playwrightDownload();
  if (playwright) return { path: playwright, source: 'playwright' };
  const system = systemPlaces(environment).find(isExecutable);
  if (system) return { path: system, source: 'system' };
  throw new EmulatorError('EMULATOR_NO_CHROMIUM', `There is no Chromium on this machine. ${WAYS_OUT}`);
}

function requireExecutable(path: string, who: string): string {
  if (isExecutable(path)) return path;
  const why = existsSync(path) ? 'which is not an executable file' : 'which does not exist';
  throw new EmulatorError('EMULATOR_NO_CHROMIUM', `${who} names ${path}, ${why}. Correct it or unset it. ${WAYS_OUT}`);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Playwright is a peer of the package and may be missing; without a download its path names nothing. */
async function playwrightDownload(): Promise<string | undefined> {
  try {
    const { chromium } = await import('playwright-core');
    const path = chromium.executablePath();
    return isExecutable(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

function systemPlaces(environment: NodeJS.ProcessEnv): string[] {
  if (process.platform === 'darwin') {
    return ['Google Chrome', 'Chromium'].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`);
  }
  if (process.platform === 'win32') {
    const roots = [environment.PROGRAMFILES, environment['PROGRAMFILES(X86)'], environment.LOCALAPPDATA];
    return roots
      .filter((root) => root !== undefined)
      .flatMap((root) => [
        join(root, 'Google/Chrome/Application/chrome.exe'),
        join(root, 'Chromium/Application/chrome.exe'),
      ]);
  }
  const folders = (environment.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return COMMANDS.flatMap((command) => folders.map((folder) => join(folder, command)));
}

import { existsSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { EmulatorError } from '../../errors.ts';
import { isExecutable, playwrightDownloads } from './playwright-downloads.ts';

/** `shell`: the headless shell, which has no windows and takes no extensions. `full`: the whole browser, headless. */
export type ChromiumKind = 'shell' | 'full';

/** Where a Chromium was found, and how. */
export interface FoundChromium {
  /** What it can run. */
  kind: ChromiumKind;
  /** Absolute path of its executable. */
  path: string;
  /** What named it: the option, a variable, the download of Playwright, or the `PATH` of the system. */
  source: 'option' | 'POOLWRIGHT_CHROMIUM' | 'POOLWRIGHT_CHROMIUM_SHELL' | 'playwright' | 'system';
}

/** What there is to run; at least one of the two. */
export interface Chromiums {
  /** For sessions of type `hosted`; null: `full` runs all. */
  shell: FoundChromium | null;
  /** For stealth and privacy types, profiles and extensions; null: `shell` runs all. */
  full: FoundChromium | null;
}

/** Paths that the user names; a string is the one Chromium for everything. */
export type NamedChromium = string | { shell?: string | undefined; full?: string | undefined };

const FULL_VARIABLE = 'POOLWRIGHT_CHROMIUM';
const SHELL_VARIABLE = 'POOLWRIGHT_CHROMIUM_SHELL';
const COMMANDS = {
  full: ['google-chrome', 'google-chrome-stable', 'chromium', 'chromium-browser'],
  shell: ['chromium-headless-shell', 'chrome-headless-shell', 'headless_shell'],
};
const SHELL_NAME = /headless[-_]shell/i;
/** The end of error messages about a missing Chromium. */
export const HOW_TO_GET_CHROMIUM =
  `Get one with "npx playwright install chromium", or install Chrome or Chromium with the system's package manager ` +
  `(Debian: "apt-get install chromium chromium-headless-shell"); a browser in another place is named by the variable ${FULL_VARIABLE}, ` +
  `a headless shell by ${SHELL_VARIABLE}.`;

/**
 * The Chromiums to run. Each is the one that `named` names, else its variable, else Playwright's own download, else the
 * system's. Where a full one is named and no shell, the named one is for everything: nothing else is looked for.
 * @throws EmulatorError `EMULATOR_NO_CHROMIUM`; its message says the ways to get one.
 */
export async function findChromiums(
  named: NamedChromium = {},
  environment: NodeJS.ProcessEnv = process.env,
): Promise<Chromiums> {
  const byOption = typeof named === 'string' ? { full: named } : named;
  const fromEnvironment = typeof named === 'string' ? {} : environment;
  const full =
    fromOption(byOption.full, 'full', 'The option "chromium"') ?? fromVariable(fromEnvironment, FULL_VARIABLE);
  const shell =
    fromOption(byOption.shell, 'shell', 'The option "chromium.shell"') ?? fromVariable(fromEnvironment, SHELL_VARIABLE);
  if (full && !shell)
    return SHELL_NAME.test(basename(full.path)) ? { shell: { ...full, kind: 'shell' }, full: null } : { shell, full };
  if (full && shell) return { shell, full };
  const downloads = await playwrightDownloads();
  const found = {
    shell: shell ?? unnamed('shell', downloads.shell, environment),
    full: full ?? unnamed('full', downloads.full, environment),
  };
  if (found.shell || found.full) return found;
  throw new EmulatorError('EMULATOR_NO_CHROMIUM', `There is no Chromium on this machine. ${HOW_TO_GET_CHROMIUM}`);
}

function fromOption(path: string | undefined, kind: ChromiumKind, who: string): FoundChromium | null {
  return path ? { kind, path: requireExecutable(path, who), source: 'option' } : null;
}

function fromVariable(
  environment: NodeJS.ProcessEnv,
  source: typeof FULL_VARIABLE | typeof SHELL_VARIABLE,
): FoundChromium | null {
  const path = environment[source];
  if (!path) return null;
  const kind = source === SHELL_VARIABLE ? 'shell' : 'full';
  return { kind, path: requireExecutable(path, `The variable ${source}`), source };
}

function unnamed(
  kind: ChromiumKind,
  download: string | undefined,
  environment: NodeJS.ProcessEnv,
): FoundChromium | null {
  if (download) return { kind, path: download, source: 'playwright' };
  const path = systemPlaces(kind, environment).find(isExecutable);
  return path === undefined ? null : { kind, path, source: 'system' };
}

function requireExecutable(path: string, who: string): string {
  if (isExecutable(path)) return path;
  const why = existsSync(path) ? 'which is not an executable file' : 'which does not exist';
  const message = `${who} names ${path}, ${why}. Correct it or unset it. ${HOW_TO_GET_CHROMIUM}`;
  throw new EmulatorError('EMULATOR_NO_CHROMIUM', message);
}

function systemPlaces(kind: ChromiumKind, environment: NodeJS.ProcessEnv): string[] {
  if (process.platform === 'darwin' && kind === 'full') {
    return ['Google Chrome', 'Chromium'].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`);
  }
  if (process.platform === 'win32' && kind === 'full') {
    const roots = [environment.PROGRAMFILES, environment['PROGRAMFILES(X86)'], environment.LOCALAPPDATA];
    return roots
      .filter((root) => root !== undefined)
      .flatMap((root) => [
        join(root, 'Google/Chrome/Application/chrome.exe'),
        join(root, 'Chromium/Application/chrome.exe'),
      ]);
  }
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const directories = (environment.PATH ?? '').split(delimiter).filter((directory) => directory !== '');
  return COMMANDS[kind].flatMap((command) => directories.map((directory) => join(directory, `${command}${suffix}`)));
}

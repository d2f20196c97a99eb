import { accessSync, constants, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, sep } from 'node:path';
import * as v from 'valibot';

/** Playwright's own downloads, as far as they are there. */
export interface Downloads {
  shell?: string | undefined;
  full?: string | undefined;
}

const KINDS = ['chromium', 'chromium_headless_shell'] as const;
const FULL_NAMES = [
  'chrome',
  'chrome.exe',
  join('Google Chrome for Testing.app', 'Contents', 'MacOS', 'Google Chrome for Testing'),
  join('Chromium.app', 'Contents', 'MacOS', 'Chromium'),
];
const SHELL_NAMES = ['chrome-headless-shell', 'headless_shell', 'chrome-headless-shell.exe', 'headless_shell.exe'];
/** Says where downloads are, or which they are; npm passes on the same as `npm_config_…`. */
const VARIABLE = /^(npm_(package_)?config_)?playwright_(browsers_path|host_platform_override)$/i;

const browsersFile = v.object({
  browsers: v.array(
    v.object({
      name: v.string(),
      revision: v.string(),
      revisionOverrides: v.optional(v.record(v.string(), v.string())),
    }),
  ),
});

/**
 * The Chromiums that Playwright has downloaded: found in its documented directory, by the list of browsers in its
 * package. Only if that fails, Playwright itself is loaded and asked, which takes half a second.
 */
export async function playwrightDownloads(environment: NodeJS.ProcessEnv = process.env): Promise<Downloads> {
  const manifest = packageFile();
  if (manifest === null) return {}; // Playwright is a peer of the package and may be missing
  const directory = downloadDirectory(environment);
  const revision = revisionOf(join(dirname(manifest), 'browsers.json'));
  if (directory === null || revision === null) return await ask();
  const found = downloadsOf(directory, revision);
  const isThere = KINDS.some((kind) => existsSync(join(directory, `${kind}-${revision}`)));
  return found.full || found.shell || !isThere ? found : await ask();
}

async function ask(): Promise<Downloads> {
  try {
    const { chromium } = await import('playwright-core');
    const full = chromium.executablePath();
    const parts = full.split(sep);
    const at = parts.findLastIndex((part) => /^chromium-\d+$/.test(part));
    const [, revision] = parts[at]?.split('-') ?? [];
    const directory = parts.slice(0, at).join(sep) || sep;
    const { shell } = revision === undefined ? {} : downloadsOf(directory, revision);
    return { full: isExecutable(full) ? full : undefined, shell };
  } catch {
    return {};
  }
}

/**
 * Its full Chromium and its headless shell of one revision lie in directories beside each other:
 * `chromium-1255/chrome-linux64/chrome`,
 * `chromium_headless_shell-1255/chrome-headless-shell-linux64/chrome-headless-shell`.
 */
function downloadsOf(directory: string, revision: string): Downloads {
  const find = (kind: (typeof KINDS)[number], names: readonly string[]) =>
    directoriesIn(join(directory, `${kind}-${revision}`))
      .flatMap((each) => names.map((name) => join(each, name)))
      .find(isExecutable);
  return { full: find('chromium', FULL_NAMES), shell: find('chromium_headless_shell', SHELL_NAMES) };
}

/** Null if it differs by system, or if Playwright prints it in a different format. */
function revisionOf(file: string): string | null {
  try {
    const { browsers } = v.parse(browsersFile, JSON.parse(readFileSync(file, 'utf8')));
    const chromium = browsers.find(({ name }) => name === 'chromium');
    return chromium && !chromium.revisionOverrides ? chromium.revision : null;
  } catch {
    return null;
  }
}

/** `package.json` of the Playwright that is installed here; null without one. */
function packageFile(): string | null {
  try {
    return createRequire(import.meta.url).resolve('playwright-core/package.json');
  } catch {
    return null;
  }
}

/** As Playwright's page on browsers says; null: it depends on more than that. */
function downloadDirectory(environment: NodeJS.ProcessEnv): string | null {
  const { PLAYWRIGHT_BROWSERS_PATH: named, XDG_CACHE_HOME, LOCALAPPDATA } = environment;
  const variables = Object.keys(environment).filter((name) => VARIABLE.test(name) && environment[name]);
  if (named && isAbsolute(named) && variables.length === 1) return named;
  if (variables.length > 0) return null;
  const caches: Partial<Record<NodeJS.Platform, string>> = {
    linux: XDG_CACHE_HOME || join(homedir(), '.cache'),
    darwin: join(homedir(), 'Library', 'Caches'),
    win32: LOCALAPPDATA || join(homedir(), 'AppData', 'Local'),
  };
  const cache = caches[process.platform];
  return cache === undefined ? null : join(cache, 'ms-playwright');
}

function directoriesIn(directory: string): string[] {
  try {
    return readdirSync(directory).map((name) => join(directory, name));
  } catch {
    return [];
  }
}

/** Whether a path names a file that can be run. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

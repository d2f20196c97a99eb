import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { OptionsError } from '../../errors.ts';
import { globSync } from './libraries.ts';

/** Of a suite, and of component tests (`@playwright/experimental-ct-*`). */
const NAMES = ['playwright.config', 'playwright-ct.config'];
/** In the order in which Playwright looks for them. */
const EXTENSIONS = ['ts', 'js', 'mts', 'mjs', 'cts', 'cjs'];
/** Directories below the one that was asked for. */
const DEEPEST = 4;
/** How many are listed where there are too many. */
const LISTED = 10;
export const IGNORED = ['**/node_modules/**', '**/.*/**', '**/{dist,build,coverage,test-results,playwright-report}/**'];

/**
 * The Playwright config of a directory, or the only one below it; null when there is none.
 * @param asked the flag `--config`: a file, or a directory that has one
 * @throws OptionsError when there are several, or none where `asked` says
 */
export function findPlaywrightConfig(directory: string, asked?: string): string | null {
  if (asked !== undefined) return namedConfig(resolve(directory, asked), asked);
  for (const name of NAMES) {
    const here = configsIn(directory, name);
    if (here.length > 0) return onlyOne(here, directory);
    const below = globSync(`**/${name}.{${EXTENSIONS.join(',')}}`, {
      cwd: directory,
      ignore: IGNORED,
      deep: DEEPEST,
      absolute: true,
    });
    if (below.length > 0) return onlyOne(below.map((file) => file.replaceAll('/', sep)).sort(), directory);
  }
  return null;
}

function namedConfig(path: string, asked: string): string {
  if (!existsSync(path)) throw new OptionsError('--config', `--config: there is no ${asked}.`);
  if (!statSync(path).isDirectory()) return path;
  const inside = NAMES.map((name) => configsIn(path, name)).find(({ length }) => length > 0);
  if (!inside)
    throw new OptionsError(
      '--config',
      `--config: there is no playwright.config.* or playwright-ct.config.* in ${asked}.`,
    );
  return onlyOne(inside, dirname(path));
}

function configsIn(directory: string, name: string): string[] {
  return EXTENSIONS.map((extension) => join(directory, `${name}.${extension}`)).filter((file) => existsSync(file));
}

function onlyOne([first = '', ...more]: string[], directory: string): string {
  if (more.length === 0) return first;
  const names = [first, ...more].map((file) => relative(directory, file));
  const listed =
    names.slice(0, LISTED).join(', ') + (names.length > LISTED ? ` and ${names.length - LISTED} more` : '');
  const together = new Set(names.map((name) => dirname(name))).size === 1;
  const hint = together ? ` Playwright itself takes ${names[0]} and ignores the others.` : '';
  throw new OptionsError(
    '--config',
    `There are ${names.length} Playwright configs: ${listed}.${hint} Name yours: --config ${names[0]}`,
  );
}

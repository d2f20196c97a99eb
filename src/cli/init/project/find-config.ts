import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { OptionsError } from '../../../errors.ts';
import { globSync } from '../libraries.ts';

/** In the order in which Playwright looks for them. */
const EXTENSIONS = ['ts', 'js', 'mts', 'mjs', 'cts', 'cjs'];
/** Folders below the one that was asked for. */
const DEEPEST = 4;
/** How many are listed where there are too many. */
const LISTED = 10;
export const IGNORED = ['**/node_modules/**', '**/.*/**', '**/{dist,build,coverage,test-results,playwright-report}/**'];

/**
 * The Playwright config of a folder, or the only one below it; null when there is none.
 * @param asked the flag `--config`: a file, or a folder that has one
 * @throws OptionsError when there are several, or none where `asked` says
 */
export function findPlaywrightConfig(folder: string, asked?: string): string | null {
  if (asked !== undefined) return namedConfig(resolve(folder, asked), asked);
  const here = configsIn(folder);
  if (here.length > 0) return onlyOne(here, folder);
  const below = globSync(`**/playwright.config.{${EXTENSIONS.join(',')}}`, {
    cwd: folder,
    ignore: IGNORED,
    deep: DEEPEST,
    absolute: true,
  });
  return below.length > 0 ? onlyOne(below.map((file) => file.replaceAll('/', sep)).sort(), folder) : null;
}

function namedConfig(path: string, asked: string): string {
  if (!existsSync(path)) throw new OptionsError('--config', `--config: there is no ${asked}.`);
  if (!statSync(path).isDirectory()) return path;
  const inside = configsIn(path);
  if (inside.length === 0) throw new OptionsError('--config', `--config: there is no playwright.config.* in ${asked}.`);
  return onlyOne(inside, dirname(path));
}

function configsIn(folder: string): string[] {
  return EXTENSIONS.map((extension) => join(folder, `playwright.config.${extension}`)).filter((file) =>
    existsSync(file),
  );
}

function onlyOne([first = '', ...more]: string[], folder: string): string {
  if (more.length === 0) return first;
  const names = [first, ...more].map((file) => relative(folder, file));
  const listed =
    names.slice(0, LISTED).join(', ') + (names.length > LISTED ? ` and ${names.length - LISTED} more` : '');
  const together = new Set(names.map((name) => dirname(name))).size === 1;
  const hint = together ? ` Playwright itself takes ${names[0]} and ignores the others.` : '';
  throw new OptionsError(
    '--config',
    `There are ${names.length} Playwright configs: ${listed}.${hint} Name yours: --config ${names[0]}`,
  );
}

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { errorMessage } from '../../common/error-message.ts';
import { importModule } from '../../common/import-module.ts';
import { OptionsError } from '../../errors.ts';
import { parseHostedOptions } from '../../options/schema/parse.ts';
import type { HostedOptions } from '../../options/schema/schema.ts';

/** Supported names of the options file. */
const NAMES = ['ts', 'mts', 'mjs', 'js', 'cjs', 'json'].map((ending) => `poolwright.config.${ending}`);

/**
 * The options of a run whose runner has no place for them in its own config: the default export of
 * `poolwright.config.*` in the root directory. Without that file, defaults and environment variables apply.
 * @throws OptionsError for two such files, for one that cannot be loaded, and for an invalid option
 */
export async function optionsFromFile(root: string): Promise<HostedOptions> {
  const found = NAMES.filter((name) => existsSync(join(root, name)));
  const [name, second] = found;
  if (name === undefined) return {};
  if (second !== undefined) {
    throw new OptionsError(name, `There are ${found.join(' and ')} in ${root}: keep only one of them.`);
  }
  return parseHostedOptions(await load(root, name), name);
}

async function load(root: string, name: string): Promise<unknown> {
  const path = join(root, name);
  try {
    if (name.endsWith('.json')) return JSON.parse(await readFile(path, 'utf8'));
    return (await importModule(pathToFileURL(path))).default ?? {};
  } catch (error) {
    const isTypeScript = /\.m?ts$/.test(name) && !('typescript' in process.features && process.features.typescript);
    const hint = isTypeScript
      ? ` This Node (${process.version}) cannot load TypeScript: rename the file to poolwright.config.mjs.`
      : '';
    throw new OptionsError(name, `${name} could not be read: ${errorMessage(error)}.${hint}`);
  }
}

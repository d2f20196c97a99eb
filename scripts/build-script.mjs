import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'tsup';
import { PAGES } from './pages.mjs';

/**
 * Builds programs of this repository that are written in TypeScript and import its sources.
 * @param entry their files, by the names that they get in `outDir`
 * @param external packages that are loaded from where `outDir` is, beside those that are installed
 */
export async function buildScript(entry, outDir, external = []) {
  const quiet = { config: false, silent: true };
  const format = { format: ['esm'], target: 'node20', platform: 'node' };
  await build({ ...quiet, ...format, entry, outDir, external, skipNodeModulesBundle: true });
}

/** What the transport runs in pages lies beside the code that reads it. */
export function copyPages(outDir) {
  for (const name of Object.keys(PAGES.entry)) copyFileSync(join('dist', `${name}.js`), join(outDir, `${name}.js`));
}

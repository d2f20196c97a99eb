import { existsSync, statSync } from 'node:fs';
import { build } from 'esbuild';
import { newest } from './newest.mjs';

const BUILT = 'dist/options.cjs';

/**
 * Builds the check of options alone, unless it is newer than its sources: the sources load it by its path, too
 * (options/schema/parse.ts), and their tests need no more of a build.
 */
export async function ensureOptions() {
  const sources = ['src/options', 'src/service', 'src/common', 'src/redact.ts', 'src/printable.ts', 'src/errors.ts'];
  if (existsSync(BUILT) && statSync(BUILT).mtimeMs > Math.max(...sources.map(newest))) return;
  const [entryPoint, target] = ['src/options/schema/check.ts', 'node20'];
  await build({ entryPoints: [entryPoint], outfile: BUILT, target, bundle: true, platform: 'node', format: 'cjs' });
}

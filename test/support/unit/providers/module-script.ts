import { join, resolve } from 'node:path';
import { build } from 'esbuild';

/** Builds the process of a user's provider from the sources. Returns its path. */
export async function moduleScript(directory: string): Promise<string> {
  const outfile = join(directory, 'provider-main.mjs');
  await build({
    entryPoints: [resolve(import.meta.dirname, '../../../../src/providers/module/main.ts')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  });
  return outfile;
}

import { createRequire } from 'node:module';
import { distFile } from '../../common/dist-file.ts';

/**
 * Loads `check.ts` when there are options to check: zod takes longer to load than all the rest of `poolwright`, and a
 * worker's options have been checked by its runner. It is a separate file of the build: a config cannot wait for an
 * `import()`, and a bundler would put what is loaded with `require()` next to the caller.
 */
export function loadCheck(): typeof import('./check.ts') {
  return createRequire(import.meta.url)(distFile('options.cjs'));
}

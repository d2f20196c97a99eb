import { defineConfig } from 'tsup';
import { shared, typedEntries } from './tsup.config.ts';

/**
 * Puts the declarations that the native compiler has written (tsconfig.types.json) into one file for each entry. tsup's
 * own compiler takes ten times as long to derive them from the sources, once for each format.
 */
const declarations = Object.entries(typedEntries).map(([name, source]) => [
  name,
  source.replace(/^src(.*)\.ts$/, '.types$1.d.ts'),
]);

export default defineConfig({
  ...shared,
  entry: Object.fromEntries(declarations),
  format: ['esm', 'cjs'],
  dts: { only: true },
});

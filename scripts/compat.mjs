import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { buildScript } from './build-script.mjs';
import { main } from './playwright.mjs';
import { setUp } from './set-up.mjs';

/**
 * `node scripts/compat.mjs`: Playwright Test's features three ways; writes bench/results/compatibility.md. Not part of
 * the tests.
 */
await main(async () => {
  await setUp();
  // Where `poolwright` means this package.
  const outDir = join('.consumers', 'compat');
  await buildScript({ compat: 'bench/compat/main.ts' }, outDir, ['poolwright', 'ws']);
  return spawnSync(process.execPath, [join(outDir, 'compat.js')], { stdio: 'inherit' }).status ?? 1;
});

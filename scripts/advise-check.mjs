import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'tsup';
import { ensureBuilt } from './build.mjs';
import { main } from './playwright.mjs';

/**
 * `node scripts/advise-check.mjs`: what `report advise` predicts beside what real runs take; writes
 * bench/results/advise.md. Not part of the tests.
 */
await main(async () => {
  await ensureBuilt();
  // As deep in the project as the tests' harness, which finds its root from where it is.
  const outDir = join('node_modules', '.cache', 'poolwright-advise-check');
  try {
    await build({
      config: false,
      entry: { main: 'sim/advise-check.ts' },
      format: ['esm'],
      target: 'node20',
      platform: 'node',
      outDir,
      silent: true,
      skipNodeModulesBundle: true,
    });
    return (
      spawnSync(process.execPath, [join(outDir, 'main.js'), ...process.argv.slice(2)], { stdio: 'inherit' }).status ?? 1
    );
  } finally {
    rmSync(outDir, { recursive: true, force: true });
  }
});

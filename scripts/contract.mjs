import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build } from 'tsup';
import { main } from './playwright.mjs';

/**
 * `node scripts/contract.mjs`: compares the client with the description of the service that POOLWRIGHT_BASE_URL and
 * POOLWRIGHT_API_KEY name (its `/doc`). Exits with 1 if calls would break.
 */
await main(async () => {
  const outDir = join('node_modules', '.cache', 'poolwright-contract');
  await build({
    config: false,
    entry: { contract: 'scripts/contract/main.ts' },
    format: ['esm'],
    target: 'node20',
    platform: 'node',
    skipNodeModulesBundle: true,
    outDir,
    silent: true,
  });
  return spawnSync(process.execPath, [join(outDir, 'contract.js')], { stdio: 'inherit' }).status ?? 1;
});

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { buildScript } from './build-script.mjs';
import { main } from './playwright.mjs';

/**
 * `node scripts/contract.mjs`: compares the client with the description of the service that POOLWRIGHT_BASE_URL and
 * POOLWRIGHT_API_KEY name (its `/doc`). Exits with 1 if calls would break, with 2 if
 * nothing could be compared.
 */
await main(async () => {
  const outDir = join('node_modules', '.cache', 'poolwright-contract');
  await buildScript({ contract: 'scripts/contract/main.ts' }, outDir);
  return spawnSync(process.execPath, [join(outDir, 'contract.js')], { stdio: 'inherit' }).status ?? 1;
});

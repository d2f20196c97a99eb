import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build } from 'tsup';
import { ensureBuilt } from './build.mjs';
import { ensureChromium } from './chromium.mjs';
import { main } from './playwright.mjs';

/** `npm run bench [-- rounds]`: what the transport costs, measured on the sources. Not part of the tests. */
await main(async () => {
  ensureBuilt();
  await ensureChromium();
  const outDir = join('node_modules', '.cache', 'poolwright-bench');
  await build({
    config: false,
    entry: ['bench/transport.ts'],
    format: ['esm'],
    target: 'node20',
    platform: 'node',
    outDir,
    silent: true,
  });
  const args = [join(outDir, 'transport.js'), ...process.argv.slice(2)];
  return spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1;
});

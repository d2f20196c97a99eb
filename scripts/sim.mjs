import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build } from 'tsup';
import { main } from './playwright.mjs';

/** `node scripts/sim.mjs`: many shards against one limit; writes bench/results/simulation.md. Not part of the tests. */
await main(async () => {
  const outDir = join('node_modules', '.cache', 'poolwright-sim');
  await build({
    config: false,
    // Brokers are started by the path of their file, which lies beside.
    entry: { sim: 'sim/main.ts', 'broker-main': 'src/broker/main.ts' },
    format: ['esm'],
    target: 'node20',
    platform: 'node',
    skipNodeModulesBundle: true,
    outDir,
    silent: true,
  });
  return spawnSync(process.execPath, [join(outDir, 'sim.js')], { stdio: 'inherit' }).status ?? 1;
});

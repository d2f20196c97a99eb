import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildScript, copyPages } from './build-script.mjs';
import { main } from './playwright.mjs';
import { setUp } from './set-up.mjs';

/** `npm run bench -- --help`: what poolwright costs, measured. Not part of the tests, but for a small run of it. */
await main(async () => {
  process.on('SIGINT', () => undefined); // it reaches the bench, which removes what it made and ends
  const args = process.argv.slice(2);
  if (!args.includes('--help')) {
    await setUp();
  }
  // Several may run at once. As deep in the project as the tests' harness, which finds its root from where it is.
  const outDir = join('node_modules', '.cache', `poolwright-bench-${process.pid}`);
  try {
    // Processes are started by the path of their file, which lies beside.
    const entry = {
      main: 'bench/main.ts',
      'instant-service': 'bench/broker/instant-service.ts',
      'bare-hop': 'bench/links/bare-hop.ts',
      'broker-main': 'src/broker/main.ts',
      'relay-lease': 'src/relay/lease/main.ts',
    };
    await buildScript(entry, outDir);
    copyPages(outDir);
    return spawnSync(process.execPath, [join(outDir, 'main.js'), ...args], { stdio: 'inherit' }).status ?? 1;
  } finally {
    rmSync(outDir, { recursive: true, force: true });
  }
});

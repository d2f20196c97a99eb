import { spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'tsup';
import { ensurePages, PAGES } from './pages.mjs';
import { main } from './playwright.mjs';

/** `node scripts/record-cdp.mjs [name…]`: records the exchanges that the interceptors' tests play back. */
await main(async () => {
  const recordings = join('test', 'support', 'unit', 'cdp', 'recordings');
  const outDir = join('node_modules', '.cache', 'poolwright-record-cdp');
  await build({
    config: false,
    entry: [join(recordings, 'record.ts')],
    format: ['esm'],
    target: 'node20',
    platform: 'node',
    skipNodeModulesBundle: true,
    outDir,
    silent: true,
  });
  // What the transport runs in pages lies beside the code that reads it.
  await ensurePages();
  for (const page of Object.keys(PAGES.entry)) copyFileSync(join('dist', `${page}.js`), join(outDir, `${page}.js`));
  const args = [join(outDir, 'record.js'), recordings, ...process.argv.slice(2)];
  return spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1;
});

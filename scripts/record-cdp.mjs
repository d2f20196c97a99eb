import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { buildScript, copyPages } from './build-script.mjs';
import { ensurePages } from './pages.mjs';
import { main } from './playwright.mjs';

/** `node scripts/record-cdp.mjs [name…]`: records the exchanges that the interceptors' tests play back. */
await main(async () => {
  const recordings = join('test', 'support', 'unit', 'cdp', 'recordings');
  const outDir = join('node_modules', '.cache', 'poolwright-record-cdp');
  await buildScript({ record: join(recordings, 'record.ts') }, outDir);
  await ensurePages();
  copyPages(outDir);
  const args = [join(outDir, 'record.js'), recordings, ...process.argv.slice(2)];
  return spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1;
});

import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'tsup';
import { buildScript, copyPages } from './build-script.mjs';
import { main } from './playwright.mjs';
import { setUp } from './set-up.mjs';

/**
 * `node scripts/compat-puppeteer.mjs --checkout DIR`: Puppeteer's own tests on a plain `puppeteer.connect` and through
 * poolwright; writes its part of bench/results/compatibility.md. Not part of the tests.
 *
 * DIR is a checkout of puppeteer/puppeteer at a release, of which `test` and `packages/testserver` are enough. It
 * fetches nothing: in a directory above DIR, install `puppeteer` of that release, without its download, and with the
 * versions that DIR's package.json files name `mocha`, `expect`, `sinon`, `source-map-support`, `mime`, `ws`, `diff`,
 * `jpeg-js`, `pixelmatch` and `pngjs`; and link `@pptr/testserver` to DIR/packages/testserver.
 */
const checkout = resolve(parseArgs({ options: { checkout: { type: 'string', default: '' } } }).values.checkout);

await main(async () => {
  await setUp();
  const outDir = join('.consumers', 'compat-puppeteer');
  await buildScript({ main: 'bench/compat/puppeteer/main.ts' }, outDir, ['poolwright']);
  // Loaded into Mocha's process, which is elsewhere: whole in itself.
  await build({
    config: false,
    silent: true,
    target: 'node20',
    platform: 'node',
    outDir,
    entry: { preload: 'bench/compat/puppeteer/connect-instead.ts' },
    format: ['cjs'],
    noExternal: [/.*/],
    external: ['puppeteer-core'],
    shims: true,
  });
  copyPages(outDir);
  const args = [join(outDir, 'main.js'), checkout, resolve(outDir, 'preload.cjs')];
  return spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1;
});

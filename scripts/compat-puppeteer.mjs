import { spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'tsup';
import { PAGES } from './pages.mjs';
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
  const shared = { config: false, target: 'node20', platform: 'node', outDir, silent: true };
  const entry = { main: 'compat/puppeteer/main.ts' };
  await build({ ...shared, entry, format: ['esm'], skipNodeModulesBundle: true, external: ['poolwright'] });
  // Loaded into Mocha's process, which is elsewhere: whole in itself.
  await build({
    ...shared,
    entry: { preload: 'compat/puppeteer/connect-instead.ts' },
    format: ['cjs'],
    noExternal: [/.*/],
    external: ['puppeteer-core'],
    shims: true,
  });
  // What runs in pages lies beside what loads it.
  for (const name of Object.keys(PAGES.entry)) copyFileSync(`dist/${name}.js`, join(outDir, `${name}.js`));
  const args = [join(outDir, 'main.js'), checkout, resolve(outDir, 'preload.cjs')];
  return spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1;
});

import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { newest } from './newest.mjs';

/**
 * What the transport runs in pages, by the names of the built files; each puts what it exports into `page`
 * (cdp/page-code.ts).
 */
export const PAGES = {
  entry: {
    'page-network': 'src/cdp/network/page/network.ts',
    'page-files': 'src/cdp/files/page/files.ts',
  },
  globalName: 'page',
  target: 'es2023',
};

/**
 * Builds these alone, unless they are newer than what they are made from: tests of the sources need no more of a build.
 */
export async function ensurePages() {
  const sources = Math.max(newest('src/cdp/network/page'), newest('src/cdp/files/page'));
  const isNew = (name) =>
    existsSync(join('dist', `${name}.js`)) && statSync(join('dist', `${name}.js`)).mtimeMs > sources;
  if (Object.keys(PAGES.entry).every(isNew)) return;
  const { entry: entryPoints, globalName, target } = PAGES;
  await build({ entryPoints, globalName, target, bundle: true, minify: true, format: 'iife', outdir: 'dist' });
}

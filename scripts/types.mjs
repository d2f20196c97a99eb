import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { ensureBuilt } from './build.mjs';
import { main } from './playwright.mjs';

/**
 * `node scripts/types.mjs`: TypeScript over every part of the repository, by its native compiler, which takes a third
 * of the time.
 */

const PROJECTS = [
  '.',
  'bench/compat',
  'src/report/timeline/page',
  'src/features/film/page',
  'src/watch/page',
  'src/cdp/network/page',
  'src/cdp/files/page',
];

await main(async () => {
  // The examples import the package by its name; in a fresh clone it has not been built.
  if (!existsSync('dist/index.d.ts')) await ensureBuilt();
  // Without a feature (scripts/without.mjs), some are missing.
  const codes = await Promise.all(PROJECTS.filter((project) => existsSync(project)).map(check));
  return codes.every((code) => code === 0) ? 0 : 1;
});

async function check(project) {
  const args = ['node_modules/typescript-native/bin/tsc', '--noEmit', '-p', project];
  const [code] = await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'exit');
  return code;
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { main } from './playwright.mjs';

/** `npm run types`: TypeScript over every part of the repository; only what changed since the last time is checked anew. */

const PROJECTS = { source: '.', compat: 'compat', timeline: 'src/reporter/timeline/page' };

await main(async () => {
  const codes = await Promise.all(Object.entries(PROJECTS).map(([name, project]) => check(name, project)));
  return codes.every((code) => code === 0) ? 0 : 1;
});

async function check(name, project) {
  const cache = `node_modules/.cache/typescript/${name}.tsbuildinfo`;
  const args = ['--noEmit', '--incremental', '--tsBuildInfoFile', cache, '-p', project];
  const [code] = await once(
    spawn(process.execPath, ['node_modules/typescript/bin/tsc', ...args], { stdio: 'inherit' }),
    'exit',
  );
  return code;
}

import { spawnSync } from 'node:child_process';
import { main } from './playwright.mjs';

/** `npm run types`: TypeScript over every part of the repository; only what changed since the last time is checked anew. */

const PROJECTS = { source: '.', compat: 'compat', timeline: 'src/reporter/timeline/page' };

await main(async () => {
  let code = 0;
  for (const [name, project] of Object.entries(PROJECTS)) {
    const cache = `node_modules/.cache/typescript/${name}.tsbuildinfo`;
    const args = ['--noEmit', '--incremental', '--tsBuildInfoFile', cache, '-p', project];
    code ||=
      spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', ...args], { stdio: 'inherit' }).status ?? 1;
  }
  return code;
});

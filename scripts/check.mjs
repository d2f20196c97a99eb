import { spawn } from 'node:child_process';
import { delimiter } from 'node:path';
import { main } from './playwright.mjs';

/** `npm run check`: everything that needs no browser, all steps side by side. */

const STEPS = {
  types: 'node scripts/types.mjs',
  lint: 'biome check .',
  graph: 'node scripts/graph.mjs',
  'dead code': 'knip',
  duplicates: 'node scripts/duplicates.mjs',
  words: 'node scripts/words.mjs',
  claims: 'node scripts/claims.mjs',
};

await main(async () => {
  const since = performance.now();
  const codes = await Promise.all(Object.entries(STEPS).map(([name, command]) => step(name, command)));
  console.log(`${'all'.padEnd(12)} ${seconds(since)}`);
  return codes.every((code) => code === 0) ? 0 : 1;
});

/** Runs one step to its end; prints its output when it fails. */
async function step(name, command) {
  const since = performance.now();
  const PATH = `node_modules/.bin${delimiter}${process.env.PATH}`;
  const child = spawn(command, { shell: true, env: { ...process.env, PATH }, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      printed += text;
    });
  }
  const code = await new Promise((resolve) => child.once('close', resolve));
  console.log(`${name.padEnd(12)} ${seconds(since)}${code === 0 ? '' : `  failed:\n${printed}`}`);
  return code;
}

function seconds(since) {
  return `${((performance.now() - since) / 1000).toFixed(1).padStart(5)} s`;
}

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { main } from './playwright.mjs';

/** `npm run check`: everything that needs no browser, each step a script of package.json, all of them side by side. */

const STEPS = ['types', 'lint', 'graph', 'dead', 'duplicates'];

await main(async () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  const since = performance.now();
  const codes = await Promise.all(STEPS.map((name) => step(name, scripts[name])));
  console.log(`${'all'.padEnd(12)} ${seconds(since)}`);
  return codes.every((code) => code === 0) ? 0 : 1;
});

/** Runs one step to its end; what it printed is shown when it failed. */
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

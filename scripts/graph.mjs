import { readFileSync, writeFileSync } from 'node:fs';
import { cruise } from 'dependency-cruiser';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import config from '../.dependency-cruiser.mjs';
import { main } from './playwright.mjs';

/**
 * `node scripts/graph.mjs`: checks that imports follow the rules of .dependency-cruiser.mjs, and that the picture of
 * them in docs/architecture.md is current. `--write` draws it anew.
 */

const PAGE = 'docs/architecture.md';
const BLOCK = /(<!-- imports -->\n)[\s\S]*?(<!-- \/imports -->)/;

await main(async () => {
  const { forbidden, options } = config;
  const settings = { ...options, ruleSet: { forbidden }, validate: true };
  const result = await cruise(['src'], settings, undefined, { tsConfig: extractTSConfig('tsconfig.json') });
  const { summary, modules } = result.output;
  for (const { from, to, rule, cycle } of summary.violations) {
    const path = cycle ? cycle.map(({ name }) => name).join(' -> ') : to;
    console.error(`${rule.name}: ${from} -> ${path}`);
  }
  return isDrawn(picture(modules)) && summary.violations.length === 0 ? 0 : 1;
});

/** The rooms, and which imports which: an import that another one implies is left out. */
function picture(modules) {
  const edges = new Map();
  for (const { source, dependencies } of modules) {
    const from = roomOf(source);
    if (from === null) continue;
    if (!edges.has(from)) edges.set(from, new Set());
    for (const { resolved } of dependencies) {
      const to = roomOf(resolved);
      if (to !== null && to !== from) edges.get(from).add(to);
    }
  }
  const lines = [...edges].flatMap(([from, targets]) =>
    [...targets].filter((to) => !reaches(edges, from, to)).map((to) => `  ${from} --> ${to}`),
  );
  return ['```mermaid', 'flowchart TD', ...lines.sort(), '```', ''].join('\n');
}

/** Whether `from` imports `to` through another room, too. */
function reaches(edges, from, to) {
  const seen = new Set();
  const queue = [...edges.get(from)].filter((room) => room !== to);
  for (let room = queue.pop(); room !== undefined; room = queue.pop()) {
    if (room === to) return true;
    if (seen.has(room)) continue;
    seen.add(room);
    queue.push(...(edges.get(room) ?? []));
  }
  return false;
}

/** Files beside the rooms are left out: everything imports errors.ts, redact.ts and printable.ts. */
function roomOf(path) {
  return /^src\/([^/]+)\//.exec(path)?.[1] ?? null;
}

function isDrawn(drawing) {
  const page = readFileSync(PAGE, 'utf8');
  const drawn = page.replace(BLOCK, (_all, begin, end) => `${begin}\n${drawing}\n${end}`);
  if (process.argv.includes('--write')) writeFileSync(PAGE, drawn);
  else if (drawn !== page) {
    console.error(`The picture of imports in ${PAGE} is not current: node scripts/graph.mjs --write`);
    return false;
  }
  return true;
}

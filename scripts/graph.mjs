import { readFileSync, writeFileSync } from 'node:fs';
import { cruise } from 'dependency-cruiser';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import config from '../.dependency-cruiser.mjs';
import { main } from './playwright.mjs';

/**
 * `node scripts/graph.mjs`: checks that imports follow the rules of .dependency-cruiser.mjs, that no entries of a
 * directory of src import each other in a circle, and that the picture of the imports in docs/architecture.md is
 * current. `--write` draws it anew.
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
  const circles = circlesOf(modules);
  for (const { directory, entries } of circles) {
    console.error(`no-circle-of-entries: in ${directory}, these import each other: ${entries.join(', ')}`);
  }
  return isDrawn(picture(modules)) && summary.violations.length + circles.length === 0 ? 0 : 1;
});

/** The directories whose entries (files and directories) have no order in which each imports only those before it. */
function circlesOf(modules) {
  const imports = new Map();
  for (const { source, dependencies } of modules) {
    for (const { resolved } of dependencies) {
      const [from, to] = [source.split('/'), resolved.split('/')];
      const depth = from.findIndex((part, at) => part !== to[at]);
      // `src` itself has rules for its rooms.
      if (depth < 2 || to[0] !== 'src') continue;
      const directory = from.slice(0, depth).join('/');
      if (!imports.has(directory)) imports.set(directory, []);
      imports.get(directory).push([from[depth], to[depth]]);
    }
  }
  return [...imports].flatMap(([directory, edges]) => {
    let left = edges;
    for (let before = null; before !== left.length; ) {
      before = left.length;
      left = left.filter(([from, to]) => left.some((edge) => edge[0] === to) && left.some((edge) => edge[1] === from));
    }
    return left.length > 0 ? [{ directory, entries: [...new Set(left.flat())].sort() }] : [];
  });
}

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

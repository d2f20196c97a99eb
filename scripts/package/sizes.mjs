import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { lazyLoadsOf } from '../lazy-loads.mjs';

/** Where the bounds are. */
export const BUDGET_FILE = 'scripts/package/size-budget.json';
const WHAT_TO_DO =
  'Was a dependency bundled by mistake (dist/sbom.cdx.json lists all), or is something loaded at once that could be loaded when it is needed? ' +
  'If the growth is meant: node scripts/package/check.mjs --write, and say why in the commit.';
/** What `poolwright watch` adds to the package: its server and its page, without libraries that others use, too. */
const WATCH = 'watch, server and page';
const WATCH_SOURCE = /^\/\/ src\/(?:watch|cli\/watch)/;
/** So much more than now is allowed when bounds are written, and what they are rounded up to. */
const SLACK = 1.05;
const STEP_BYTES = 1_000;

/**
 * Bytes of the package: packed, unpacked, and by entry of what is read when it is loaded: its own files, as far as they
 * are imported at once, not later.
 * @param entries as `entriesOf` says them
 * @returns {Promise<Record<string, number>>}
 */
export async function measure({ size, unpackedSize }, entries) {
  const sizes = { packed: size, unpacked: unpackedSize, [WATCH]: bytesOfWatch() };
  for (const entry of entries) {
    // The ES modules of most entries require their CommonJS.
    sizes[entry.name] = await bytesOf(entry.require ?? entry.import);
  }
  return sizes;
}

/** Which lines of a built file are of which source, is in its comments; the page is built as separate files. */
function bytesOfWatch() {
  const page = ['watch.js', 'watch.css'].map((name) => statSync(join('dist', name)).size);
  const server = readdirSync('dist')
    .filter((name) => /\.c?js$/.test(name))
    .flatMap((name) => readFileSync(join('dist', name), 'utf8').split(/^(?=\/\/ (?:src|node_modules)\/)/m))
    .filter((part) => WATCH_SOURCE.test(part))
    .map((part) => Buffer.byteLength(part));
  return [...page, ...server].reduce((sum, bytes) => sum + bytes, 0);
}

async function bytesOf(file) {
  const { metafile } = await build({
    entryPoints: [file],
    bundle: true,
    write: false,
    metafile: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
  });
  const { inputs } = metafile;
  const seen = new Set();
  const visit = (path) => {
    if (seen.has(path) || !inputs[path]) return;
    seen.add(path);
    for (const each of loadedAtOnce(path, inputs[path])) visit(each);
  };
  visit(file.replace(/^\.\//, ''));
  return [...seen].reduce((sum, path) => sum + inputs[path].bytes, 0);
}

/** The files that a file loads at once. The CommonJS build has `require()` in place of `import()`. */
function loadedAtOnce(file, { imports }) {
  const times = new Map();
  for (const { kind, path } of imports) {
    if (kind !== 'dynamic-import') times.set(path, (times.get(path) ?? 0) + 1);
  }
  for (const { target, isRequire } of file.endsWith('.cjs') ? lazyLoadsOf(readFileSync(file, 'utf8')) : []) {
    const path = target === null || !isRequire ? null : join(dirname(file), target);
    if (times.has(path)) times.set(path, times.get(path) - 1);
  }
  return [...times].flatMap(([path, count]) => (count > 0 ? path : []));
}

/** What is over its bound, one line each. */
export function overBudget(sizes, budget) {
  const problems = [];
  for (const [what, bytes] of Object.entries(sizes)) {
    const bound = budget[what];
    if (bound === undefined)
      problems.push(`size: ${what} has no bound in ${BUDGET_FILE}: node scripts/package/check.mjs --write`);
    else if (bytes > bound)
      problems.push(`size: ${what} has ${bytes} bytes, ${bytes - bound} more than allowed. ${WHAT_TO_DO}`);
  }
  for (const what of Object.keys(budget)) {
    if (!(what in sizes)) problems.push(`size: ${what} in ${BUDGET_FILE} is not part of the package any longer`);
  }
  return problems;
}

export function readBudget() {
  return JSON.parse(readFileSync(BUDGET_FILE, 'utf8'));
}

/** Bounds for what there is now. */
export function budgetFor(sizes) {
  const bounds = Object.entries(sizes).map(([what, bytes]) => [
    what,
    Math.ceil((bytes * SLACK) / STEP_BYTES) * STEP_BYTES,
  ]);
  return `${JSON.stringify(Object.fromEntries(bounds), null, 2)}\n`;
}

import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { isLibraryCode } from './commonjs.mjs';
import { newest } from './newest.mjs';

const FOLDER = 'dist';
const INPUTS = [
  'src',
  'tsup.config.ts',
  'package.json',
  'tsconfig.json',
  'scripts/licences.mjs',
  'scripts/sbom.mjs',
  'scripts/lazy-loads.mjs',
  'scripts/pages.mjs',
];
const LAST_OUTPUT = 'dist/index.d.cts'; // types are written last

/** Builds the package, unless the last build is newer than everything it was made from. */
export function ensureBuilt() {
  linkIntoExamples();
  if (existsSync(LAST_OUTPUT) && statSync(LAST_OUTPUT).mtimeMs > Math.max(...INPUTS.map(newest))) return;
  console.log('Building poolwright …');
  build();
}

/** Builds the package, and removes what an earlier build left: the names of its parts change with their content. */
function build() {
  linkIntoExamples();
  const start = Date.now();
  const tsup = ['node_modules/tsup/dist/cli-default.js', '--silent'];
  const { status, stdout, stderr } = spawnSync(process.execPath, tsup, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The build failed:\n${stdout}${stderr}`);
  for (const name of readdirSync(FOLDER)) {
    const path = join(FOLDER, name);
    // A second of grace: some file systems keep whole seconds.
    if (statSync(path).mtimeMs < start - 1_000) rmSync(path, { recursive: true });
  }
  checkLazyLoads();
  for (const name of readdirSync(FOLDER)) if (/\.c?js$/.test(name)) minifyLibraries(join(FOLDER, name));
}

/** In a process of its own, because it loads what was built. A build that fails this is not taken for one. */
function checkLazyLoads() {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/lazy-loads.mjs', FOLDER], { encoding: 'utf8' });
  if (status === 0) return;
  rmSync(LAST_OUTPUT);
  throw new Error(`The build failed: what it loads lazily lacks names, or cannot be loaded.\n${stderr}`);
}

/** Examples are packages of their own, so that they can be copied: here they find poolwright as installed ones would. */
function linkIntoExamples() {
  const link = 'examples/node_modules/poolwright';
  if (existsSync(link)) return;
  mkdirSync('examples/node_modules', { recursive: true });
  symlinkSync(resolve('.'), link, 'junction');
}

/**
 * What we wrote is shipped as it is; parts that hold nothing but other people's libraries, which nobody reads here, are
 * made small: undici alone is a megabyte.
 */
function minifyLibraries(path) {
  const code = readFileSync(path, 'utf8');
  if (!isLibraryCode(code)) return;
  const format = path.endsWith('.cjs') ? 'cjs' : 'esm';
  const result = transformSync(code, {
    minify: true,
    keepNames: true,
    format,
    target: 'node20',
    legalComments: 'inline',
  });
  writeFileSync(path, result.code);
}

// `npm run build`
if (process.argv[1] === fileURLToPath(import.meta.url)) build();

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { isLibraryCode } from './build-plugins/commonjs.mjs';
import { newest } from './newest.mjs';

const DIRECTORY = 'dist';
const IN_EXAMPLES = 'examples/node_modules/poolwright';
const INPUTS = [
  'src',
  'tsup.config.ts',
  'tsup.types.config.ts',
  'package.json',
  'tsconfig.json',
  'tsconfig.types.json',
  'scripts/build-plugins/commonjs.mjs',
  'scripts/build-plugins/licences.mjs',
  'scripts/sbom.mjs',
  'scripts/lazy-loads.mjs',
  'scripts/pages.mjs',
  'scripts/build-plugins/protocol.mjs',
  'scripts/build-plugins/undici.mjs',
  'scripts/build-plugins/zod.mjs',
];
const LAST_OUTPUT = 'dist/index.d.cts'; // types are written last
const TSUP = 'node_modules/tsup/dist/cli-default.js';

/** Builds the package, unless the last build is newer than everything it was made from. */
export async function ensureBuilt() {
  if (!existsSync(LAST_OUTPUT) || statSync(LAST_OUTPUT).mtimeMs <= Math.max(...INPUTS.map(newest))) {
    console.log('Building poolwright …');
    await build();
  }
  // What was copied is newer.
  if (!existsSync(IN_EXAMPLES) || newest(join(IN_EXAMPLES, DIRECTORY)) <= newest(DIRECTORY)) installIntoExamples();
}

/** Builds the package, and removes what an earlier build left: the names of its parts change with their content. */
async function build() {
  const start = Date.now();
  const types = 'node_modules/typescript-native/bin/tsc';
  await Promise.all([run(TSUP, '--silent'), run(types, '-p', 'tsconfig.types.json')]);
  await run(TSUP, '--silent', '--config', 'tsup.types.config.ts');
  rmSync('.types', { recursive: true });
  for (const name of readdirSync(DIRECTORY)) {
    const path = join(DIRECTORY, name);
    // A second of grace: some file systems keep whole seconds.
    if (statSync(path).mtimeMs < start - 1_000) rmSync(path, { recursive: true });
  }
  checkLazyLoads();
  for (const name of readdirSync(DIRECTORY)) if (/\.c?js$/.test(name)) minifyLibraries(join(DIRECTORY, name));
  installIntoExamples();
}

async function run(...args) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`The build failed:\n${output}`);
}

/** Runs in a separate process, because it loads what was built. A build that fails this check counts as failed. */
function checkLazyLoads() {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/lazy-loads.mjs', DIRECTORY], { encoding: 'utf8' });
  if (status === 0) return;
  rmSync(LAST_OUTPUT);
  throw new Error(`The build failed: what it loads lazily lacks names, or cannot be loaded.\n${stderr}`);
}

/**
 * Examples are separate packages, so that users can copy them. This copy lets them find poolwright as if it were
 * installed. A link does not do: Playwright resolves it to a path outside of `node_modules`, and transforms the package
 * in each worker.
 */
function installIntoExamples() {
  rmSync(IN_EXAMPLES, { recursive: true, force: true });
  for (const path of ['package.json', 'schemas', 'templates', DIRECTORY])
    cpSync(path, join(IN_EXAMPLES, path), { recursive: true });
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
if (process.argv[1] === fileURLToPath(import.meta.url)) await build();

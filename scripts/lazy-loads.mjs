import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parse } from '@babel/parser';
import { isLibraryCode } from './build-plugins/commonjs.mjs';

/**
 * `node scripts/lazy-loads.mjs DIRECTORY`: loads what the built files load by `import()`, and checks that the names
 * taken from it exist. Types do not show it: of a bundled CommonJS library, esbuild's chunk exports only `default`.
 */

/** The CommonJS build has `require()` in place of most `import()`, wrapped by this helper. */
const INTEROP = '__toESM';

/**
 * Every `import()` of a built file: `target` (null: not a literal), the `names` taken from it (null: it is used as a
 * whole), and whether it was built as a `require()`.
 */
export function lazyLoadsOf(code) {
  if (!/\bimport\(/.test(code) && !code.includes(`${INTEROP}(require(`)) return [];
  const { program } = parse(code, { sourceType: 'unambiguous', errorRecovery: true });
  const loads = [];
  visit(program, [], (node, ancestors) => {
    const isStatic = ancestors.at(-1)?.type === 'VariableDeclarator'; // `import * as` of the CommonJS build
    const [argument] = node.arguments ?? [];
    const isImport = node.callee?.type === 'Import';
    const asked = isImport ? argument : node.callee?.name === INTEROP ? argument?.arguments?.[0] : undefined;
    if (!asked || isStatic) return;
    const target = asked.type === 'StringLiteral' ? asked.value : null;
    const isName = asked.type === 'Identifier';
    loads.push({ line: node.loc.start.line, target, isName, isRequire: !isImport, names: takenNames(ancestors) });
  });
  return loads;
}

/** Of `const { a } = await import()` and `(await import()).a`: "a"; null for any other use. */
function takenNames(ancestors) {
  const user = ancestors[ancestors.findLastIndex(({ type }) => type === 'AwaitExpression') - 1];
  if (user?.type === 'MemberExpression' && !user.computed) return [user.property.name];
  if (user?.type !== 'VariableDeclarator' || user.id.type !== 'ObjectPattern') return null;
  return user.id.properties.map(({ key }) => key?.name ?? '...');
}

function visit(node, ancestors, onNode) {
  if (Array.isArray(node)) for (const each of node) visit(each, ancestors, onNode);
  else if (typeof node?.type === 'string') {
    onNode(node, ancestors);
    for (const each of Object.values(node)) visit(each, [...ancestors, node], onNode);
  }
}

/** Loads what the files of a directory load. @returns {Promise<string[]>} problems, one line each */
export async function lazyLoadProblems(directory) {
  const problems = [];
  for (const name of readdirSync(directory).filter((each) => /\.c?js$/.test(each))) {
    const file = join(directory, name);
    for (const load of lazyLoadsOf(readFileSync(file, 'utf8'))) {
      const problem = await problemOf(file, load).catch((error) => `cannot be loaded: ${error.message}`);
      if (problem) problems.push(`${file}:${load.line}: import(${load.target ?? ''}) ${problem}`);
    }
  }
  return problems;
}

/** @returns {Promise<string | null>} */
async function problemOf(file, { target, isName, isRequire, names }) {
  // What is named by a variable is a package; `require()` knows no `file:` URL.
  if (target === null) return isRequire && !isName ? 'became a require(): use importModule()' : null;
  if (names === null) {
    const chunk = resolve(dirname(file), target);
    return existsSync(chunk) && isLibraryCode(readFileSync(chunk, 'utf8'))
      ? 'of a bundled library: take the names that are used from it'
      : null;
  }
  const require = createRequire(resolve(file));
  const isChunk = target.startsWith('.');
  const loaded = isRequire
    ? interop(require(target))
    : await import(isChunk ? pathToFileURL(resolve(dirname(file), target)).href : target);
  const missing = names.filter((name) => !(name in loaded));
  return missing.length > 0 ? `has no ${missing.join(', ')}: it exports ${Object.keys(loaded).join(', ')}` : null;
}

/** As that helper does. */
function interop(loaded) {
  return loaded?.__esModule ? loaded : { ...loaded, default: loaded };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problems = await lazyLoadProblems(process.argv[2] ?? 'dist');
  for (const problem of problems) console.error(problem);
  process.exit(problems.length === 0 ? 0 : 1);
}

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';

const GLOBALS = /\b(?:browser|context|page|hostedSession)\b/;
const IMPORTS = /\bfrom\s*['"]([^'"\n]+)['"]|\b(?:import|require|requireActual)\s*\(?\s*['"]([^'"\n]+)['"]/g;
/** An import whose name is computed at run time. */
const COMPUTED = /\b(?:import|require)\s*\(\s*[^'")\s]/;
const ENDINGS = ['', '.js', '.ts', '.jsx', '.tsx', '.mjs', '.cjs', '.mts', '.cts', '.json'];
/** Limit of files to search. With more files, a browser may be needed. */
const MOST_FILES = 500;

/**
 * Whether tests may need a hosted browser: a test file, or a file that it imports, contains the name of a global. Does
 * not look into packages. Returns true when it cannot tell, for example for a name that Jest maps.
 * @param files absolute paths of the test files, and of the files that Jest loads before them
 */
export function needsBrowser(files: readonly string[]): boolean {
  const seen = new Set(files);
  for (const file of seen) {
    const source = read(file);
    if (source === null || GLOBALS.test(source) || COMPUTED.test(source) || seen.size > MOST_FILES) return true;
    for (const [, from, required] of source.matchAll(IMPORTS)) {
      const name = from ?? required ?? '';
      const imported = name.startsWith('.') ? besides(file, name) : name;
      if (imported === null || (imported === name && !isPackage(file, name))) return true;
      if (imported !== name) seen.add(imported);
    }
  }
  return false;
}

/** Resolves a relative import with the extensions that Jest tries; null if the file does not exist. */
function besides(file: string, name: string): string | null {
  const path = resolve(dirname(file), name);
  const paths = [path, path.replace(/\.([cm]?)jsx?$/, '.$1ts'), resolve(path, 'index')];
  for (const ending of ENDINGS) {
    const found = paths.find((each) => read(each + ending) !== null);
    if (found !== undefined) return found + ending;
  }
  return null;
}

/** Whether a name is an installed package or a Node module, not one that Jest maps to a file. */
function isPackage(file: string, name: string): boolean {
  try {
    const path = createRequire(file).resolve(name);
    return path === name || path.startsWith('node:') || path.includes('node_modules');
  } catch {
    return name === '@jest/globals';
  }
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

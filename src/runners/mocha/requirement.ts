import { readFileSync } from 'node:fs';

/** The objects that must be ready when a test of a file begins. */
export type Requirement = 'page' | 'browser' | 'nothing';

/** `this.page`, `const { page } = this` */
const IN_THIS =
  /\bthis\s*\??\.\s*(?:browser|context|page|hostedSession)\b|\{[^{}]*\b(?:browser|context|page|hostedSession)\b[^{}]*\}\s*=\s*this\b/;
const IMPORTED = /['"]poolwright\/mocha['"]/;

/**
 * The requirement of a file's tests, by its source: Mocha does not know which tests read `this.page`. Checks the whole
 * file, because hooks and helpers may read it, too.
 */
export function requirementOf(file: string | undefined): Requirement {
  if (file === undefined) return 'nothing';
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    // A virtual file of a loader. Its tests can use `hosted`.
  }
  if (IN_THIS.test(text)) return 'page';
  return IMPORTED.test(text) ? 'browser' : 'nothing';
}

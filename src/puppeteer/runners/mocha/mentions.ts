import { readFileSync } from 'node:fs';

/** What a test file wants to be ready when each of its tests begins. */
export type Wanted = 'page' | 'browser' | 'nothing';

/** `this.page`, `const { page } = this` */
const IN_THIS =
  /\bthis\s*\??\.\s*(?:browser|context|page|hostedSession)\b|\{[^{}]*\b(?:browser|context|page|hostedSession)\b[^{}]*\}\s*=\s*this\b/;
const IMPORTED = /['"]poolwright\/mocha['"]/;

/**
 * What a test file wants, by its text: Mocha does not tell which of its tests read `this.page`. A whole file, because
 * hooks and helpers in it read it, too.
 */
export function wantedBy(file: string | undefined): Wanted {
  if (file === undefined) return 'nothing';
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    // A file that only a loader knows: its tests ask through `hosted`.
  }
  if (IN_THIS.test(text)) return 'page';
  return IMPORTED.test(text) ? 'browser' : 'nothing';
}

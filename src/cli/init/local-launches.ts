import { readFileSync, statSync } from 'node:fs';
import { sep } from 'node:path';
import { IGNORED } from './find-config.ts';
import { globSync } from './libraries.ts';
import type { Plan } from './plan.ts';
import type { Project } from './project.ts';

const LAUNCH = /\bchromium\s*\.\s*launch(PersistentContext|Server)?\s*\(/;
const COMMENT = /^\s*(\/\/|\*|\/\*|#)/;
/** Larger files, in bytes, are not written by hand. */
const LARGEST = 512 * 1024;
/** Lines of one project: the rest looks the same. */
const MOST = 8;

/** Finds where the project's sources start Chromium themselves. */
export function findLocalLaunches(plan: Plan, { directory }: Project): void {
  const files = globSync('**/*.{ts,js,mts,mjs,cts,cjs,tsx,jsx}', { ignore: IGNORED, absolute: true, cwd: directory });
  const found = files.sort().flatMap((path) => {
    const file = path.replaceAll('/', sep);
    if (statSync(file).size > LARGEST) return [];
    const lines = readFileSync(file, 'utf8').split('\n');
    return lines.flatMap((line, n) => (LAUNCH.test(line) && !COMMENT.test(line) ? [{ file, line: n + 1 }] : []));
  });
  plan.launches.push(...found.slice(0, MOST));
  if (found.length > MOST) plan.notes.push(`${found.length - MOST} more lines start a browser.`);
}

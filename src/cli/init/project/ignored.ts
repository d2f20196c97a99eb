import { join } from 'node:path';
import type { Plan } from '../plan.ts';
import { eolOf } from '../syntax/style.ts';
import type { Project } from './project.ts';

const FILE = '.gitignore';
/** Holds the record and the timeline of each run. */
const RESULTS = 'test-results/';

/** Keeps a run's results out of commits. */
export function ignoreResults(plan: Plan, { directory, root, hasGit }: Project): void {
  const file = join(directory, FILE);
  const text = plan.read(file) ?? '';
  const all = [text, plan.read(join(root, FILE)) ?? ''].join('\n');
  if (/^\/?(\*\*\/)?test-results(\/\**)?\s*$/m.test(all)) plan.present.push(`${FILE} names ${RESULTS}`);
  else if (hasGit) {
    const eol = eolOf(text);
    plan.write(file, `${text}${text === '' || text.endsWith('\n') ? '' : eol}${RESULTS}${eol}`);
  }
}

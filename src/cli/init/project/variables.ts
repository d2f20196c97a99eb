import { join } from 'node:path';
import type { Plan } from '../plan.ts';
import { eolOf } from '../syntax/style.ts';
import type { Project } from './project.ts';

const FILE = '.env.example';

/** Each variable with what a reader of the file has to know, and an example that is no secret. */
const VARIABLES: [name: string, meaning: string][] = [
  [
    'POOLWRIGHT_BASE_URL',
    "The hosted-browser service's address. Without a key, runs use the emulator on this machine.",
  ],
  ['POOLWRIGHT_API_KEY', "The workspace's key. Never commit the real one."],
  ['POOLWRIGHT_POOL', 'ID or name of the pool to lease browsers from. Empty: a session is created for each worker.'],
];

/** Adds the variables that `.env.example` does not have. */
export function addVariables(plan: Plan, { folder }: Project): void {
  const file = join(folder, FILE);
  const text = plan.read(file) ?? '';
  const missing = VARIABLES.filter(
    ([name]) => !new RegExp(`^[ \\t]*#?[ \\t]*(export[ \\t]+)?${name}[ \\t]*=`, 'm').test(text),
  );
  if (missing.length === 0) {
    plan.present.push(`${FILE} has the variables`);
    return;
  }
  const eol = eolOf(text);
  const lines = missing.flatMap(([name, meaning]) => [`# ${meaning}`, `${name}=`]);
  const above = text === '' ? '' : text.endsWith('\n') ? `${text}${eol}` : `${text}${eol}${eol}`;
  plan.write(file, `${above}${lines.join(eol)}${eol}`);
}

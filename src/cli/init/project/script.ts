import { join } from 'node:path';
import type { Plan } from '../plan.ts';
import { addToSection, openJson } from './json.ts';
import type { Project } from './project.ts';

const SCRIPT = 'test:hosted';

/**
 * Adds the script that runs the tests, unless one with this name is there: documentation and habits know the name.
 * @returns the name of the script that runs them; null without a `package.json`
 */
export function addScript(plan: Plan, { directory, manifest }: Project, command: string): string | null {
  const scripts = manifest?.scripts ?? {};
  if (manifest === null) return null;
  if (Object.hasOwn(scripts, SCRIPT)) {
    plan.present.push(`package.json has the script "${SCRIPT}": ${scripts[SCRIPT]}`);
    return SCRIPT;
  }
  const file = join(directory, 'package.json');
  const json = openJson(plan.read(file) ?? '{}');
  if (!('why' in json) && addToSection(json, 'scripts', SCRIPT, command)) {
    plan.write(file, json.toText());
    return SCRIPT;
  }
  plan.byHand.push({
    file,
    why: 'has no object in "scripts"',
    todo: 'Add a script to it:',
    lines: [`"scripts": { "${SCRIPT}": ${JSON.stringify(command)} }`],
  });
  return null;
}

import { existsSync } from 'node:fs';
import { basename, extname, join, relative, resolve } from 'node:path';
import { OptionsError } from '../../../errors.ts';
import type { Plan } from '../plan.ts';
import { addToSection, openJson } from '../project/json.ts';
import type { Project } from '../project/project.ts';
import { propertyOf } from '../syntax/properties.ts';
import { type Edited, editJson, editSource } from './edit-config.ts';
import { type PuppeteerRunner, RUNNERS } from './runners.ts';

/**
 * Plans a suite of Puppeteer tests: the runner's config.
 * @param asked the flag `--config`
 * @returns what runs the tests, as it is typed in the package's directory
 * @throws OptionsError when `asked` is not a file
 */
export function planPuppeteer(plan: Plan, project: Project, runner: PuppeteerRunner, asked?: string): string {
  const { command, configs, inTests } = RUNNERS[runner];
  if (asked !== undefined && !existsSync(asked)) throw new OptionsError('--config', `--config: there is no ${asked}.`);
  if (runner !== 'node-test') planConfig(plan, project, runner, asked);
  if (inTests !== null) plan.next.push(inTests);
  const isOther = asked !== undefined && !configs.includes(relative(project.directory, asked));
  return isOther ? `${command} --config ${relative(project.directory, asked).replaceAll('\\', '/')}` : command;
}

function planConfig(plan: Plan, { directory }: Project, runner: PuppeteerRunner, asked?: string): void {
  const { configs } = RUNNERS[runner];
  const file = asked ? resolve(asked) : configs.map((name) => join(directory, name)).find((each) => existsSync(each));
  if (file === undefined) {
    planWithoutFile(plan, directory, runner);
    return;
  }
  const text = plan.read(file) ?? '';
  settle(plan, file, runner, edited(text, basename(file), runner));
}

function edited(text: string, name: string, runner: PuppeteerRunner): Edited {
  const { module } = RUNNERS[runner];
  if (/^\.ya?ml$/.test(extname(name)))
    return text.includes(module) ? { result: 'present' } : { result: 'by hand', why: 'is YAML, which is not edited' };
  if (!/^\.jsonc?$/.test(extname(name))) return editSource(text, name, runner, module);
  const json = openJson(text);
  if ('why' in json) return { result: 'by hand', why: json.why };
  const result = editJson(json, json.root, runner, module);
  return result.result === 'edited' ? { result: 'edited', text: json.toText() } : result;
}

/** Without a config file: the runner's section of `package.json`, or a new file. */
function planWithoutFile(plan: Plan, directory: string, runner: PuppeteerRunner): void {
  const { module } = RUNNERS[runner];
  const file = join(directory, 'package.json');
  // Vitest has no section there.
  const text = runner === 'vitest' ? null : plan.read(file);
  const inManifest = text === null ? null : editSection(text, runner);
  if (inManifest) settle(plan, file, runner, inManifest);
  else if (runner === 'mocha') {
    plan.write(join(directory, '.mocharc.json'), `${JSON.stringify({ require: [module] }, null, 2)}\n`);
  } else {
    const config = `import { defineConfig } from 'vitest/config';\n\nexport default defineConfig({ test: { globalSetup: ['${module}'] } });\n`;
    plan.write(join(directory, 'vitest.config.mjs'), config);
  }
}

/** Null: there is no section, and a file is better. */
function editSection(text: string, runner: PuppeteerRunner): Edited | null {
  const { module } = RUNNERS[runner];
  const json = openJson(text);
  if ('why' in json) return { result: 'by hand', why: json.why };
  const section = propertyOf(json.root, runner)?.value;
  if (section && section.type !== 'ObjectExpression')
    return { result: 'by hand', why: `has a "${runner}" that is not an object` };
  if (section) {
    const result = editJson(json, section, runner, module);
    return result.result === 'edited' ? { result: 'edited', text: json.toText() } : result;
  }
  if (runner !== 'jest') return null;
  addToSection(json, 'jest', 'preset', module);
  return { result: 'edited', text: json.toText() };
}

function settle(plan: Plan, file: string, runner: PuppeteerRunner, outcome: Edited): void {
  const { module } = RUNNERS[runner];
  if (outcome.result === 'present') plan.present.push(`${basename(file)} names ${module}`);
  else if (outcome.result === 'edited') plan.write(file, outcome.text);
  else plan.byHand.push({ file, why: outcome.why, todo: 'Add to it:', lines: instructions(file, runner) });
}

function instructions(file: string, runner: PuppeteerRunner): string[] {
  const { module } = RUNNERS[runner];
  if (/\.ya?ml$/.test(file)) return ['require:', `  - ${module}`];
  if (runner === 'vitest') return [`test: { globalSetup: ['${module}'] }`];
  if (runner === 'mocha') return [`require: ['${module}']`];
  return [`preset: '${module}'`, 'Copy what the previous preset set (`transform`, `testEnvironment`) into the config.'];
}

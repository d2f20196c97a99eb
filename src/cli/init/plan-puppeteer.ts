import { existsSync } from 'node:fs';
import { basename, extname, join, relative } from 'node:path';
import { OptionsError } from '../../errors.ts';
import type { Plan } from './plan.ts';
import { type Browsers, planOptionsFile } from './plan-browsers.ts';
import type { Project } from './project.ts';
import { type PuppeteerRunner, RUNNERS } from './puppeteer-runners.ts';

/** Vitest's flags have no global setup, so that it gets a second config. */
const VITEST_HOSTED = 'vitest.hosted.config.mjs';

/**
 * Plans a suite of Puppeteer tests: a command that runs them on hosted browsers. The runner's config stays as it is,
 * and so do other scripts. A config that names poolwright's module already is used itself.
 * @param asked the flag `--config`: a file
 * @returns what runs the tests, as it is typed in the package's directory
 * @throws OptionsError when `asked` is not a file
 */
export function planPuppeteer(
  plan: Plan,
  project: Project,
  runner: PuppeteerRunner,
  { asked, browsers }: { asked?: string | undefined; browsers: Browsers },
): string {
  const { module, command, hosted, configs, inTests } = RUNNERS[runner];
  if (asked !== undefined && !existsSync(asked)) throw new OptionsError('--config', `--config: there is no ${asked}.`);
  const { directory } = project;
  planOptionsFile(plan, project, browsers);
  if (inTests !== null) plan.next.push(inTests);
  const file = asked ?? configs.map((name) => join(directory, name)).find((each) => existsSync(each));
  const here = file === undefined ? undefined : relative(directory, file).replaceAll('\\', '/');
  const otherConfig = here !== undefined && !configs.includes(here) ? ` --config ${here}` : '';
  const config = configText(plan, project, runner, file);
  if (config.includes(module)) {
    plan.present.push(`${here ?? 'package.json'} names ${module}`);
    return command + otherConfig;
  }
  if (runner === 'vitest') {
    planVitest(plan, directory, here);
    return hosted;
  }
  const preset = runner === 'jest' ? presetOf(config) : null;
  if (preset === null) return hosted + otherConfig;
  plan.byHand.push(combinedPreset(join(directory, 'jest.hosted.config.js'), here, preset));
  return 'jest --config jest.hosted.config.js';
}

/** The config as text, or the runner's section of `package.json`, without lines that are comments. */
function configText(plan: Plan, { manifest }: Project, runner: PuppeteerRunner, file: string | undefined): string {
  const section = runner === 'jest' || runner === 'mocha' ? manifest?.[runner] : undefined;
  const text = file === undefined ? JSON.stringify(section ?? {}) : (plan.read(file) ?? '');
  return text.replaceAll(/^\s*(\/\/|\*|\/\*|#).*/gm, '');
}

function planVitest(plan: Plan, directory: string, config: string | undefined): void {
  const lines =
    config === undefined
      ? ["export default { test: { globalSetup: ['poolwright/vitest'] } };"]
      : [
          "import { mergeConfig } from 'vitest/config';",
          `import config from './${config}';`,
          '',
          "const hosted = { test: { globalSetup: ['poolwright/vitest'] } };",
          '',
          "export default async (env) => mergeConfig(typeof config === 'function' ? await config(env) : await config, hosted);",
        ];
  const text = ['// Runs the tests on hosted browsers.', ...lines, ''].join('\n');
  const file = join(directory, VITEST_HOSTED);
  const written = plan.read(file);
  if (written === null) plan.write(file, text);
  else if (written.includes('poolwright/vitest')) plan.present.push(`${VITEST_HOSTED} names poolwright/vitest`);
  else plan.byHand.push({ file, why: 'does not name poolwright/vitest', todo: 'Make it:', lines });
}

/** The preset of a Jest config, which the flag `--preset` would replace; null: none, or that of jest-puppeteer. */
function presetOf(config: string): string | null {
  const found = /\bpreset['"]?\s*:\s*(?:['"]([^'"]*)['"])?/.exec(config);
  if (!found || found[1] === 'jest-puppeteer') return null;
  return found[1] ?? 'of a variable';
}

function combinedPreset(file: string, config: string | undefined, preset: string) {
  const base = config === undefined ? "require('./package.json').jest" : `require('./${config}')`;
  const isPlain = config === undefined || ['.js', '.cjs', '.json'].includes(extname(config));
  return {
    file,
    why: `has to combine the preset ${preset} with poolwright's, because Jest takes one`,
    todo: isPlain ? 'Write it:' : `Write it, with what ${basename(config)} exports:`,
    lines: [`module.exports = { ...require('poolwright/jest/jest-preset'), ...${base} };`],
  };
}

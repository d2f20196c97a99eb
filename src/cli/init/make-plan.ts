import { dirname, relative, resolve } from 'node:path';
import { OptionsError } from '../../errors.ts';
import { type CiProvider, planCi } from './ci/plan-ci.ts';
import { findLeftovers } from './leftovers.ts';
import { Plan } from './plan.ts';
import { planPlaywright } from './playwright/plan-playwright.ts';
import { findPlaywrightConfig } from './project/find-config.ts';
import { commandOf, type Project, projectOf, uncommitted } from './project/project.ts';
import { addVariables } from './project/variables.ts';
import { detectRunner } from './puppeteer/detect.ts';
import { planPuppeteer } from './puppeteer/plan-puppeteer.ts';
import { type PuppeteerRunner, RUNNERS } from './puppeteer/runners.ts';

export type Runner = 'playwright' | PuppeteerRunner;

export interface InitOptions {
  /** The runner's config, or for Playwright a folder that has one; else it is looked for. */
  config?: string;
  /** Which tests, where a project has several kinds. */
  runner?: Runner;
  ci?: CiProvider;
}

/**
 * Finds the tests below a folder and what they need for hosted browsers. Changes nothing.
 * @throws OptionsError when there are none, or several
 */
export async function makePlan(
  folder: string,
  { config, runner, ci }: InitOptions,
): Promise<{ plan: Plan; title: string }> {
  const plan = new Plan();
  const found = runner === undefined || runner === 'playwright' ? findPlaywrightConfig(folder, config) : null;
  const project = await projectOf(found ? dirname(found) : folder);
  const other = detectRunner(project);
  const chosen = found ? 'playwright' : (runner ?? other);
  if (chosen === null || (chosen === 'playwright' && !found)) throw nothingFound(folder, project);

  const install = commandOf(project.agent, 'add', ['-D', 'poolwright']);
  const isInstalled = project.dependencies.has('poolwright');
  if (!isInstalled) plan.next.push(install);
  plan.next.push(
    'set POOLWRIGHT_BASE_URL and POOLWRIGHT_API_KEY (without a key, runs use the emulator on this machine)',
  );
  plan.next.push(commandOf(project.agent, 'execute-local', ['poolwright', 'doctor']));
  if (found) planPlaywright(plan, project, found);
  else planPuppeteer(plan, project, chosen as PuppeteerRunner, config && resolve(folder, config));
  addVariables(plan, project);
  if (ci) planCi(plan, project, ci, testRun(project, chosen, found));
  if (found && other) plan.notes.push(`There are Puppeteer tests, too: npx poolwright init --runner ${other}`);
  findLeftovers(plan, project);
  for (const file of await uncommitted(edited(plan), project.root))
    plan.notes.push(`${file} has changes that are not committed.`);
  // Where nothing changes, nobody is told what comes next.
  if (!isInstalled && plan.changes.length === 0) plan.notes.push(`poolwright is not in package.json yet: ${install}`);
  const title = chosen === 'playwright' ? 'Playwright' : RUNNERS[chosen].title;
  return { plan, title: found ? `${title}, ${relative(folder, found)}` : title };
}

function edited(plan: Plan): string[] {
  return plan.changes.filter(({ before }) => before !== null).map(({ file }) => file);
}

/** How a pipeline runs the tests. */
function testRun(
  { agent, folder }: Project,
  runner: Runner,
  config: string | null,
): { test: string; sharded: boolean } {
  if (config === null) {
    const [program = '', ...args] = RUNNERS[runner as PuppeteerRunner].command.split(' ');
    return {
      test: program === 'node' ? [program, ...args].join(' ') : commandOf(agent, 'execute-local', [program, ...args]),
      sharded: false,
    };
  }
  const name = relative(folder, config).replaceAll('\\', '/');
  const args = /^playwright\.config\.\w+$/.test(name) ? [] : ['-c', name];
  return { test: commandOf(agent, 'execute-local', ['playwright', 'test', ...args]), sharded: true };
}

function nothingFound(folder: string, { manifest }: Project): OptionsError {
  const puppeteer = manifest === null ? '' : ', and no Puppeteer with Vitest, Jest, Mocha or node:test in package.json';
  return new OptionsError(
    '--config',
    `There is no playwright.config.* in ${folder} or below it${puppeteer}. Run init in your project's folder, or name the file: --config path/to/playwright.config.ts. For a new suite: npm init playwright@latest`,
  );
}

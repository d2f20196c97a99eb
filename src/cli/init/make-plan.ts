import { dirname, relative, resolve } from 'node:path';
import { OptionsError } from '../../errors.ts';
import { type CiProvider, planCi } from './ci/plan-ci.ts';
import { findLeftovers } from './leftovers.ts';
import type { Agent } from './libraries.ts';
import { Plan } from './plan.ts';
import { planPlaywright } from './plan-playwright.ts';
import { findPlaywrightConfig } from './project/find-config.ts';
import { ignoreResults } from './project/ignored.ts';
import { commandFromStart, commandOf, type Project, projectOf, uncommitted } from './project/project.ts';
import { addScript } from './project/script.ts';
import { detectRunner, hasPuppeteer } from './puppeteer/detect.ts';
import { planPuppeteer } from './puppeteer/plan-puppeteer.ts';
import { type PuppeteerRunner, RUNNERS } from './puppeteer/runners.ts';

export type Runner = 'playwright' | PuppeteerRunner;

export interface InitOptions {
  /** The runner's config, or for Playwright a directory that has one; else it is looked for. */
  config?: string;
  /** Which tests, where a project has several kinds. */
  runner?: Runner;
  ci?: CiProvider;
}

/**
 * Finds the tests below a directory, and plans the changes that they need for hosted browsers. Changes nothing.
 * @throws OptionsError when there are none, or several
 */
export async function makePlan(
  directory: string,
  { config, runner, ci }: InitOptions,
): Promise<{ plan: Plan; title: string }> {
  const plan = new Plan();
  const found = runner === undefined || runner === 'playwright' ? findPlaywrightConfig(directory, config) : null;
  const project = await projectOf(found ? dirname(found) : directory, directory);
  const other = detectRunner(project);
  const chosen = found ? 'playwright' : (runner ?? other);
  if (chosen === null || (chosen === 'playwright' && !found)) throw nothingFound(directory, project);

  const install = commandFromStart(project, 'add', ['-D', 'poolwright']);
  const isInstalled = project.dependencies.has('poolwright');
  if (!isInstalled) plan.next.push(install);
  plan.next.push(
    'set POOLWRIGHT_BASE_URL and POOLWRIGHT_API_KEY in the environment (without a key, runs use the emulator on this machine)',
  );
  plan.next.push(commandFromStart(project, 'execute-local', ['poolwright', 'doctor']));
  const playwright = found ? planPlaywright(plan, project, found) : null;
  const command =
    playwright?.command ??
    planPuppeteer(plan, project, chosen as PuppeteerRunner, config && resolve(directory, config));
  const test = localCommand(project.agent, command);
  const script = addScript(plan, project, command);
  plan.next.push(script === null ? test : commandFromStart(project, 'run', [script]));
  ignoreResults(plan, project);
  if (ci) planCi(plan, project, ci, { test, playwright });
  if (found && other) plan.notes.push(`This project also has Puppeteer tests: npx poolwright init --runner ${other}`);
  findLeftovers(plan, project);
  plan.notes.push(...(await uncommittedEdits(plan, project)));
  // Where nothing changes, the next steps are not printed.
  if (!isInstalled && plan.changes.length === 0) plan.notes.push(`poolwright is not in package.json yet: ${install}`);
  const title = chosen === 'playwright' ? 'Playwright' : RUNNERS[chosen].title;
  return { plan, title: found ? `${title}, ${relative(directory, found)}` : title };
}

async function uncommittedEdits(plan: Plan, { root }: Project): Promise<string[]> {
  const edited = plan.changes.filter(({ before }) => before !== null).map(({ file }) => file);
  return (await uncommitted(edited, root)).map((file) => `${file} has changes that are not committed.`);
}

/** A script's command as it is typed without the script: package managers find programs of the project. */
function localCommand(agent: Agent, command: string): string {
  return command.startsWith('node ') ? command : commandOf(agent, 'execute-local', command.split(' '));
}

function nothingFound(directory: string, { dependencies, manifest }: Project): OptionsError {
  if (hasPuppeteer(dependencies)) {
    const runners = Object.keys(RUNNERS).join(', ');
    return new OptionsError(
      '--runner',
      `package.json has Puppeteer, but no test runner that init knows. Scripts and other runners need no setup: import { leaseBrowser } from 'poolwright/puppeteer'. If the runner is installed elsewhere, name it: --runner (${runners}).`,
    );
  }
  const puppeteer = manifest === null ? '' : ', and no Puppeteer with Vitest, Jest, Mocha or node:test in package.json';
  return new OptionsError(
    '--config',
    `There is no playwright.config.* in ${directory} or below it${puppeteer}. Run init in your project's directory, or name the file: --config path/to/playwright.config.ts. For a new suite: npm init playwright@latest`,
  );
}

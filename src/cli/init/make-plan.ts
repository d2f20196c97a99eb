import { readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { OptionsError } from '../../errors.ts';
import { findPlaywrightConfig, IGNORED } from './find-config.ts';
import { type Agent, applyEdits, globSync, modify } from './libraries.ts';
import { Plan } from './plan.ts';
import { type Browsers, planBrowsers } from './plan-browsers.ts';
import { type CiProvider, planCi } from './plan-ci.ts';
import { planPlaywright } from './plan-playwright.ts';
import { planPuppeteer } from './plan-puppeteer.ts';
import { commandFromStart, commandOf, type Manifest, type Project, projectOf, uncommitted } from './project.ts';
import { type PuppeteerRunner, RUNNERS } from './puppeteer-runners.ts';

/** The name that the documentation uses. */
const SCRIPT = 'test:hosted';
/** Holds the record and the timeline of each run. */
const RESULTS = 'test-results/';
const PUPPETEER = ['puppeteer', 'puppeteer-core', 'puppeteer-extra', 'jest-puppeteer'];
const LAUNCH = /\bchromium\s*\.\s*launch(PersistentContext|Server)?\s*\(/;
const COMMENT = /^\s*(\/\/|\*|\/\*|#)/;
/** Larger files, in bytes, are not written by hand. */
const LARGEST = 512 * 1024;
/** Lines of one project: the rest looks the same. */
const MOST = 8;

export type Runner = 'playwright' | PuppeteerRunner;

export interface InitOptions {
  /** The runner's config, or for Playwright a directory that has one; default: found by its name. */
  config?: string;
  /** Which tests, where a project has several kinds. */
  runner?: Runner;
  ci?: CiProvider;
  /** Default: those of the service. */
  browsers?: Browsers;
}

/**
 * Finds the tests below a directory, and plans the changes that they need for hosted browsers. Changes nothing.
 * @throws OptionsError when there are none, or several
 */
export async function makePlan(
  directory: string,
  { config, runner, ci, browsers = 'service' }: InitOptions,
): Promise<{ plan: Plan; title: string }> {
  const plan = new Plan();
  const found = runner === undefined || runner === 'playwright' ? findPlaywrightConfig(directory, config) : null;
  const project = await projectOf(found ? dirname(found) : directory, directory);
  const runners = puppeteerRunners(project);
  const chosen = found ? 'playwright' : (runner ?? runners.at(0));
  if (chosen === undefined || (chosen === 'playwright' && !found)) throw nothingFound(directory, project);

  const lacking = planBrowsers(plan, project, browsers, found ? dirname(found) : project.directory);
  const install = commandFromStart(project, 'add', ['-D', ...lacking]);
  if (lacking.length > 0) plan.next.unshift(install);
  const playwright = found ? planPlaywright(plan, project, found, browsers) : null;
  const command =
    playwright?.command ??
    planPuppeteer(plan, project, chosen as PuppeteerRunner, {
      asked: config && resolve(directory, config),
      browsers,
    });
  const test = localCommand(project.agent, command);
  const script = addScript(plan, project, command);
  plan.next.push(script === null ? test : commandFromStart(project, 'run', [script]));
  ignoreResults(plan, project);
  if (ci) planCi(plan, project, ci, { test, playwright });
  if (runner === undefined) plan.notes.push(...runners.filter((each) => each !== chosen).map(alsoThere));
  findLocalLaunches(plan, project);
  plan.notes.push(...(await uncommittedEdits(plan, project)));
  // Where nothing changes, the next steps are not printed.
  if (lacking.length > 0 && plan.changes.length === 0)
    plan.notes.push(`${lacking.join(', ')} is not in package.json yet: ${install}`);
  return { plan, title: titleOf(chosen, found && relative(directory, found)) };
}

function alsoThere(runner: PuppeteerRunner): string {
  return `This package also has ${RUNNERS[runner].title}: npx poolwright init --runner ${runner}`;
}

function titleOf(runner: Runner, config: string | null): string {
  const title = runner === 'playwright' ? 'Playwright' : RUNNERS[runner].title;
  return config === null ? title : `${title}, ${config}`;
}

/** The likely runners of a project's Puppeteer tests, by its dependencies and scripts, the likeliest first. */
function puppeteerRunners({ dependencies, manifest }: Project): PuppeteerRunner[] {
  if (!hasPuppeteer(dependencies)) return [];
  const scripts = Object.values(manifest?.scripts ?? {});
  const isThere: Record<PuppeteerRunner, boolean> = {
    vitest: dependencies.has('vitest'),
    jest: dependencies.has('jest') || dependencies.has('jest-puppeteer'),
    mocha: dependencies.has('mocha'),
    'node-test': scripts.some((script) => /\bnode\b.*\s--test\b/.test(script)),
  };
  return (Object.keys(isThere) as PuppeteerRunner[]).filter((name) => isThere[name]);
}

/** Whether any package of Puppeteer's is among these. */
function hasPuppeteer(dependencies: Set<string>): boolean {
  return PUPPETEER.some((name) => dependencies.has(name));
}

/**
 * Adds the script that runs the tests, unless one with this name is there.
 * @returns the name of the script that runs them; null without a `package.json`
 */
function addScript(plan: Plan, { directory, manifest }: Project, command: string): string | null {
  if (manifest === null) return null;
  const { scripts = {} } = manifest;
  if (Object.hasOwn(scripts, SCRIPT)) {
    plan.present.push(`package.json has the script "${SCRIPT}": ${scripts[SCRIPT]}`);
    return SCRIPT;
  }
  const file = join(directory, 'package.json');
  if (typeof scripts === 'object' && scripts !== null && !Array.isArray(scripts)) {
    plan.write(file, withScript(plan.read(file) ?? '{}', manifest, command));
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

/** The text of a `package.json` with one more script. Only the lines beside it may be formatted anew. */
function withScript(text: string, manifest: Manifest, command: string): string {
  const unit = /^[ \t]+(?=")/m.exec(text)?.[0] ?? '  ';
  const formattingOptions = { tabSize: unit.length, insertSpaces: !unit.startsWith('\t'), eol: eolOf(text) };
  // New scripts stand behind the name, version and other values of one line, which cannot be formatted in another way.
  const firstOfSeveral = Object.values(manifest).findIndex((value) => typeof value === 'object');
  const getInsertionIndex = (names: string[]) => (firstOfSeveral === -1 ? names.length : firstOfSeveral);
  const options = manifest.scripts ? { formattingOptions } : { formattingOptions, getInsertionIndex };
  return applyEdits(text, modify(text, ['scripts', SCRIPT], command, options));
}

/** Keeps a run's results out of commits. */
function ignoreResults(plan: Plan, { directory, root, hasGit }: Project): void {
  const file = join(directory, '.gitignore');
  const text = plan.read(file) ?? '';
  const all = [text, plan.read(join(root, '.gitignore')) ?? ''].join('\n');
  if (/^\/?(\*\*\/)?test-results(\/\**)?\s*$/m.test(all)) plan.present.push(`.gitignore names ${RESULTS}`);
  else if (hasGit) {
    const eol = eolOf(text);
    plan.write(file, `${text}${text === '' || text.endsWith('\n') ? '' : eol}${RESULTS}${eol}`);
  }
}

/** The line ending of a text: that of its first line. */
function eolOf(text: string): '\n' | '\r\n' {
  return /^[^\n]*\r\n/.test(text) ? '\r\n' : '\n';
}

async function uncommittedEdits(plan: Plan, { root }: Project): Promise<string[]> {
  const edited = plan.changes.filter(({ before }) => before !== null).map(({ file }) => file);
  return (await uncommitted(edited, root)).map((file) => `${file} has changes that are not committed.`);
}

/** A script's command as it is typed without the script: package managers find programs of the project. */
function localCommand(agent: Agent, command: string): string {
  return command.startsWith('node ') ? command : commandOf(agent, 'execute-local', command.split(' '));
}

/** Finds where the project's sources start Chromium themselves. */
function findLocalLaunches(plan: Plan, { directory }: Project): void {
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

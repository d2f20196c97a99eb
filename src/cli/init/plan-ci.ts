import { readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { distFile } from '../../common/dist-file.ts';
import type { Agent } from './libraries.ts';
import type { Plan } from './plan.ts';
import type { PlaywrightSuite } from './plan-playwright.ts';
import { commandOf, type Project } from './project.ts';

/** Where each CI looks for its pipeline, and what to do with the jobs alone where there is one: GitHub has several. */
const PROVIDERS = {
  github: { file: '.github/workflows/poolwright.yml', todo: 'Add to it:' },
  gitlab: { file: '.gitlab-ci.yml', todo: 'Add this to it:' },
  circleci: {
    file: '.circleci/config.yml',
    todo: 'Add this below `jobs:`, and its names to a workflow, each one after the one before:',
  },
  buildkite: { file: '.buildkite/pipeline.yml', todo: 'Add this below `steps:`' },
};

export type CiProvider = keyof typeof PROVIDERS;
export const CI_PROVIDERS = Object.keys(PROVIDERS) as CiProvider[];

/** The project, as far as its pipeline depends on it. */
interface PipelineFacts {
  /** The package's directory in the repository, with `/`; empty: the repository's own. */
  directory: string;
  agent: Agent;
  /** Runs the tests, as it is typed in `directory`. */
  test: string;
  /** Null for other runners: they have no shards and no report to merge. */
  playwright: PlaywrightSuite | null;
}

/**
 * Plans a pipeline that runs the tests; one that is there stays as it is.
 * @param test runs the tests, as it is typed in the package's directory
 */
export function planCi(
  plan: Plan,
  { agent, directory, root }: Project,
  name: CiProvider,
  { test, playwright }: { test: string; playwright: PlaywrightSuite | null },
): void {
  const { file: path, todo } = PROVIDERS[name];
  const file = join(root, path);
  const facts = { directory: relative(root, directory).replaceAll('\\', '/'), agent, test, playwright };
  if (playwright?.hasOutputDir)
    plan.notes.push('The config sets `outputDir`: in the pipeline, replace test-results by it.');
  const text = plan.read(file);
  if (text === null) {
    plan.write(file, `${pipeline(name, facts, true).join('\n')}\n`);
    plan.next.push(`set POOLWRIGHT_BASE_URL and POOLWRIGHT_API_KEY in the CI, as the first lines of ${path} say`);
  } else if (text.includes('poolwright')) {
    plan.present.push(`${path} names poolwright`);
  } else {
    const why = `is there, and stays as it is (${basename(file)})`;
    plan.byHand.push({ file, why, todo, lines: pipeline(name, facts, false) });
  }
}

/**
 * The lines of a pipeline, made of a file in templates/ci: `__NAME__` is a value, and the lines from `#if NAME` to
 * `#else` or `#end` are for projects that have one.
 * @param whole false: the jobs alone, for a file that has others
 */
function pipeline(name: CiProvider, facts: PipelineFacts, whole: boolean): string[] {
  const values = { ...valuesOf(facts), WHOLE: whole ? 'yes' : '' };
  const template = readFileSync(join(distFile('cli.js'), '../../templates/ci', `${name}.yml`), 'utf8');
  const conditions: boolean[] = [];
  const lines = template
    .trimEnd()
    .split(/\r?\n/)
    .flatMap((line) => {
      const [, keyword, condition = ''] = /^ *#(if|else|end)\b ?(\w*)/.exec(line) ?? [];
      if (keyword === 'if') conditions.push(Boolean(values[condition as keyof typeof values]));
      else if (keyword === 'else') conditions.push(!conditions.pop());
      else if (keyword === 'end') conditions.pop();
      else if (!conditions.includes(false))
        return [line.replaceAll(/__([A-Z]+)__/g, (_, value: keyof typeof values) => values[value])];
      return [];
    });
  const indent = /^ */.exec(lines[0] ?? '')?.[0].length ?? 0;
  return lines.map((line) => line.slice(indent));
}

function valuesOf({ directory, agent, test, playwright }: PipelineFacts) {
  const manager = agent.replace(/@.*/, '');
  // Some package managers put `--` between a program and its arguments.
  const program = (name: string) => commandOf(agent, 'execute-local', [name, '']).trimEnd();
  return {
    DIRECTORY: directory,
    /** A path in the package, as seen from the repository's root, begins with it. */
    ROOT: directory === '' ? '' : `${directory}/`,
    /** Installs the package manager. */
    ENABLE: { npm: '', bun: 'npm install --global bun' }[manager] ?? 'corepack enable',
    INSTALL: commandOf(agent, 'frozen', []),
    TEST: test,
    POOLWRIGHT: program('poolwright'),
    PLAYWRIGHT: playwright ? program('playwright') : '',
    CONFIG: playwright?.config ?? '',
    /** A path beside the config, as seen from the package's directory, begins with it. */
    BESIDE: playwright?.beside ?? '',
    /** Playwright writes videos on the machine that runs the tests. Hosted browsers need nothing else there. */
    VIDEO: playwright?.hasVideo ? 'yes' : '',
    /** The browsers that stay local in hosted runs. */
    LOCAL: playwright?.localBrowsers.join(' ') ?? '',
    /** For the emulator. */
    CHROMIUM: `${playwright ? program('playwright') : 'npx --yes playwright'} install --with-deps chromium`,
  };
}

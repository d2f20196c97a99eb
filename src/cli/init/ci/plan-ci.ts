import { basename, join, relative } from 'node:path';
import type { Plan } from '../plan.ts';
import type { PlaywrightSuite } from '../plan-playwright.ts';
import type { Project } from '../project/project.ts';
import { buildkite, buildkiteSteps } from './buildkite.ts';
import { circleci, circleciJobs } from './circleci.ts';
import type { PipelineFacts } from './facts.ts';
import { github } from './github.ts';
import { gitlab, gitlabJobs } from './gitlab.ts';

interface Provider {
  file: string;
  /** The whole file. */
  whole(facts: PipelineFacts): string;
  /** What goes into a file that is there: GitHub has a file for each. */
  part?: { todo: string; lines(facts: PipelineFacts): string[] };
}

const PROVIDERS = {
  github: { file: '.github/workflows/poolwright.yml', whole: github },
  gitlab: { file: '.gitlab-ci.yml', whole: gitlab, part: { todo: 'Add this to it:', lines: gitlabJobs } },
  circleci: {
    file: '.circleci/config.yml',
    whole: circleci,
    part: {
      todo: 'Add this below `jobs:`, and its names to a workflow, a report after its tests:',
      lines: circleciJobs,
    },
  },
  buildkite: {
    file: '.buildkite/pipeline.yml',
    whole: buildkite,
    part: { todo: 'Add this below `steps:`', lines: buildkiteSteps },
  },
} satisfies Record<string, Provider>;

export type CiProvider = keyof typeof PROVIDERS;
export const CI_PROVIDERS = Object.keys(PROVIDERS) as CiProvider[];

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
  const provider: Provider = PROVIDERS[name];
  const file = join(root, provider.file);
  const facts = { directory: relative(root, directory).replaceAll('\\', '/'), agent, test, playwright };
  if (playwright?.hasOutputDir)
    plan.notes.push('The config sets `outputDir`: in the pipeline, replace test-results by it.');
  const text = plan.read(file);
  if (text === null) {
    plan.write(file, provider.whole(facts));
    plan.next.push(
      `set POOLWRIGHT_BASE_URL and POOLWRIGHT_API_KEY in the CI, as the first lines of ${provider.file} say`,
    );
  } else if (text.includes('poolwright')) {
    plan.present.push(`${provider.file} names poolwright`);
  } else {
    const { todo = 'Add to it:', lines = (all: PipelineFacts) => provider.whole(all).trimEnd().split('\n') } =
      provider.part ?? {};
    plan.byHand.push({ file, why: `is there, and stays as it is (${basename(file)})`, todo, lines: lines(facts) });
  }
}

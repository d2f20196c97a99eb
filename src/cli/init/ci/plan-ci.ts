import { basename, join, relative } from 'node:path';
import type { Plan } from '../plan.ts';
import { commandOf, type Project } from '../project/project.ts';
import {
  buildkite,
  buildkiteStep,
  circleci,
  circleciJob,
  github,
  gitlab,
  gitlabJob,
  type PipelineFacts,
} from './templates.ts';

interface Provider {
  file: string;
  /** The whole file. */
  whole(facts: PipelineFacts): string;
  /** What goes into a file that is there: GitHub has a file for each. */
  part?: { todo: string; lines(facts: PipelineFacts): string[] };
}

const PROVIDERS = {
  github: { file: '.github/workflows/poolwright.yml', whole: github },
  gitlab: { file: '.gitlab-ci.yml', whole: gitlab, part: { todo: 'Add this job to it:', lines: gitlabJob } },
  circleci: {
    file: '.circleci/config.yml',
    whole: circleci,
    part: { todo: 'Add this below `jobs:`, and its name to a workflow:', lines: circleciJob },
  },
  buildkite: {
    file: '.buildkite/pipeline.yml',
    whole: buildkite,
    part: { todo: 'Add this below `steps:`', lines: buildkiteStep },
  },
} satisfies Record<string, Provider>;

export type CiProvider = keyof typeof PROVIDERS;
export const CI_PROVIDERS = Object.keys(PROVIDERS) as CiProvider[];

/**
 * Plans a pipeline that runs the tests; one that is there stays as it is.
 * @param test runs the tests, as it is typed
 */
export function planCi(
  plan: Plan,
  project: Project,
  name: CiProvider,
  { test, sharded }: { test: string; sharded: boolean },
): void {
  const provider: Provider = PROVIDERS[name];
  const file = join(project.root, provider.file);
  const facts: PipelineFacts = {
    folder: relative(project.root, project.folder).replaceAll('\\', '/'),
    install: commandOf(project.agent, 'frozen', []),
    manager: project.agent.replace(/@.*/, ''),
    exec: (args) => commandOf(project.agent, 'execute-local', args),
    test,
    sharded,
    results: sharded ? ['test-results/', 'playwright-report/'] : [],
  };
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

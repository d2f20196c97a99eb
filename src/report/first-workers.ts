import type { FullConfig, FullProject, Suite } from '@playwright/test/reporter';
import { projectIds } from '../options/project-ids.ts';
import { testFile } from './test-files.ts';

/**
 * The projects of the workers that Playwright starts first, one ID per worker: as many as there are test groups, but at
 * most `config.workers`. One worker runs a group in sequence. A file whose number of groups is unknown counts as one
 * group: one browser too few is better than an unused one.
 */
export function firstWorkers(config: FullConfig, suite: Suite): string[] {
  const ids = projectIds(config.projects.map(({ name }) => name));
  const first: string[] = [];
  for (const projectSuite of suite.suites) {
    const project = projectSuite.project();
    // A project with dependencies begins after them.
    if (!project || project.dependencies.length > 0) continue;
    let groups = 0;
    for (const file of projectSuite.suites) groups += groupsOf(file, project, config);
    for (let n = 0; n < Math.min(groups, workersOf(project)); n += 1)
      first.push(ids[config.projects.indexOf(project)] ?? project.name);
  }
  return first.slice(0, config.workers);
}

/** A project may have its own limit (Playwright ≥ 1.52). */
function workersOf(project: FullProject): number {
  const own: unknown = 'workers' in project ? project.workers : undefined;
  return typeof own === 'number' ? own : Number.POSITIVE_INFINITY;
}

function groupsOf(file: Suite, project: FullProject, config: FullConfig): number {
  const tests = file.allTests().filter((test) => test.expectedStatus !== 'skipped');
  if (tests.length === 0) return 0;
  const { usesBrowser, oneByOne } = testFile(file, project, config);
  if (!usesBrowser) return 0;
  return oneByOne ? tests.length : 1;
}

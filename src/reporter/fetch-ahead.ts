import { readFileSync } from 'node:fs';
import type { FullConfig, FullProject, Suite } from '@playwright/test/reporter';
import { connectToBroker } from '../broker/rpc/client.ts';
import { sharedBrokerOf } from '../broker/rpc/shared-broker.ts';
import { projectIds } from '../options/project-ids.ts';

/** Asks for browsers while Playwright is still starting its workers: it is known by now which tests will run. */

/**
 * Tells the run's broker how many workers will ask for a browser, and for which projects. Without a broker (no hosted
 * project, or no global setup) this does nothing; where the broker cannot be reached, the workers ask for themselves.
 */
export async function fetchAhead(config: FullConfig, suite: Suite): Promise<void> {
  const address = sharedBrokerOf(process.env);
  if (!address) return;
  const projects = firstWorkers(config, suite);
  if (projects.length === 0) return;
  try {
    const broker = await connectToBroker(address, 'control');
    await broker.prefetch({ projects });
    broker.close();
  } catch {
    // The workers ask for themselves, and say what is wrong.
  }
}

/**
 * The projects of the workers that Playwright starts first, one ID a worker: as many as there are test groups, at
 * most `config.workers`. A group is what one worker runs in one go. Where it cannot be known how many groups a file
 * makes, it counts as one: rather a browser too few ahead than one that nobody uses.
 */
function firstWorkers(config: FullConfig, suite: Suite): string[] {
  const ids = projectIds(config.projects.map(({ name }) => name));
  const first: string[] = [];
  for (const projectSuite of suite.suites) {
    const project = projectSuite.project();
    // One that depends on others begins after them.
    if (!project || project.dependencies.length > 0) continue;
    let groups = 0;
    for (const file of projectSuite.suites) groups += groupsOf(file, config);
    for (let n = 0; n < Math.min(groups, workersOf(project)); n += 1)
      first.push(ids[config.projects.indexOf(project)] ?? project.name);
  }
  return first.slice(0, config.workers);
}

/** A project may have a bound of its own (Playwright ≥ 1.52). */
function workersOf(project: FullProject): number {
  const own: unknown = 'workers' in project ? project.workers : undefined;
  return typeof own === 'number' ? own : Number.POSITIVE_INFINITY;
}

function groupsOf(file: Suite, config: FullConfig): number {
  const tests = file.allTests().filter((test) => test.expectedStatus !== 'skipped');
  if (tests.length === 0) return 0;
  const source = sourceOf(file);
  if (source === null) return 1;
  if (!usesBrowser(source)) return 0;
  // With `fullyParallel` every test may be a group of its own, unless the file says something about modes.
  return config.fullyParallel && !/\bconfigure\b|\bserial\b|\bbeforeAll\b|\bafterAll\b/.test(source) ? tests.length : 1;
}

/**
 * Whether the tests of a file may need a browser. Only a file that takes `test` straight from Playwright and never
 * mentions a browser, context or page surely needs none; fixtures from elsewhere may need one.
 */
function usesBrowser(source: string): boolean {
  if (/\b(page|context|browser|hostedSession)\b/.test(source)) return true;
  const imports = source.matchAll(/\bfrom\s*['"]([^'"]+)['"]|\brequire\(\s*['"]([^'"]+)['"]/g);
  return [...imports].some(([, from, required]) => {
    const name = from ?? required ?? '';
    return name !== '@playwright/test' && !name.startsWith('node:');
  });
}

function sourceOf(file: Suite): string | null {
  try {
    return file.location ? readFileSync(file.location.file, 'utf8') : null;
  } catch {
    return null;
  }
}

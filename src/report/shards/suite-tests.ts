import { dirname, isAbsolute, relative } from 'node:path';
import type { FullConfig, FullProject, Suite, TestCase } from '@playwright/test/reporter';
import { projectIds } from '../../options/project-ids.ts';
import { recordedText } from '../../record/bounds.ts';
import type { TestKey } from './test-tree.ts';
import type { Workers } from './timings-file.ts';

export interface SuiteTest {
  test: TestCase;
  /** Repetitions of a test (`--repeat-each`) have the same key: they share their timings. */
  key: TestKey;
  /** Unique in the suite. */
  id: TestKey;
  /** The suite of its file; each repetition has another one. */
  file: Suite;
}

export interface SuiteTests {
  /** Those that one shard runs. */
  sharded: SuiteTest[];
  /** Tests of setup and teardown projects: each shard with a test that needs them runs them. */
  repeated: SuiteTest[];
}

export function testsOf(config: FullConfig, root: Suite): SuiteTests {
  const ids = projectIds(config.projects.map(({ name }) => name));
  const directory = configDirectory(config);
  const needed = neededProjects(config, root);
  const tests: SuiteTests = { sharded: [], repeated: [] };
  for (const suite of root.suites) {
    const project = suite.project();
    if (!project) continue;
    const list = needed.has(project.name) ? tests.repeated : tests.sharded;
    const id = recordedText(ids[config.projects.indexOf(project)] ?? project.name);
    const titles = new Set<string>();
    for (const file of suite.suites) {
      const path = pathOf(file, directory);
      for (const test of file.allTests()) {
        const title = recordedText(test.titlePath().slice(3).join(' › '));
        const key = { project: id, file: path, title };
        list.push({ test, key, id: { ...key, title: uniqueTitle(titles, path, title, test) }, file });
      }
    }
  }
  return tests;
}

/** The directory that file names are relative to. */
export function configDirectory({ configFile, rootDir }: FullConfig): string {
  return configFile ? dirname(configFile) : rootDir;
}

/** The workers of the run, and the limits of its projects. */
export function workersOf({ workers, projects }: FullConfig): Workers {
  const ids = projectIds(projects.map(({ name }) => name));
  // Since Playwright 1.52.
  const limits = projects.map((project): unknown => ('workers' in project ? project.workers : undefined));
  const limited = ids.flatMap((id, n): [string, number][] => {
    const limit = limits[n];
    return typeof limit === 'number' && limit >= 1 && limit < workers ? [[id, limit]] : [];
  });
  return { workers, projectWorkers: Object.fromEntries(limited) };
}

/** The projects that a project needs, directly or not: Playwright runs them in every shard that has it. */
export function neededBy(project: FullProject | undefined, config: FullConfig): Set<string> {
  const needed = new Set<string>();
  const visit = ({ dependencies, teardown }: FullProject) => {
    for (const name of [...dependencies, ...(teardown === undefined ? [] : [teardown])]) {
      if (needed.has(name)) continue;
      needed.add(name);
      for (const each of config.projects) if (each.name === name) visit(each);
    }
  };
  if (project) visit(project);
  return needed;
}

/**
 * Playwright counts only projects that have tests. With `--no-deps`, which only the command line shows, none needs
 * others.
 */
function neededProjects(config: FullConfig, root: Suite): Set<string> {
  if (process.argv.includes('--no-deps')) return new Set();
  const withTests = root.suites.filter((suite) => suite.allTests().length > 0);
  return new Set(withTests.flatMap((suite) => [...neededBy(suite.project(), config)]));
}

function pathOf(file: Suite, directory: string): string {
  const path = file.location ? relative(directory, file.location.file).replaceAll('\\', '/') : file.title;
  // Another drive of Windows: the path is one of this machine.
  return recordedText(isAbsolute(path) ? file.title.replaceAll('\\', '/') : path);
}

/** Playwright rejects equal titles in a file; a text that is cut may still be equal. */
function uniqueTitle(taken: Set<string>, file: string, title: string, { repeatEachIndex }: TestCase): string {
  const repeated = repeatEachIndex > 0 ? `${title} (repeat ${repeatEachIndex + 1})` : title;
  let unique = repeated;
  for (let n = 2; taken.has(`${file}\0${unique}`); n += 1) unique = `${repeated} (${n})`;
  taken.add(`${file}\0${unique}`);
  return unique;
}

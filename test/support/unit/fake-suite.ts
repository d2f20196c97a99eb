import { join } from 'node:path';
import type { FullConfig, Suite, TestCase } from '@playwright/test/reporter';
import type { WholeSuite } from '../../../src/report/feature.ts';

/** A suite as Playwright passes it to reporters, without Playwright. */

type Mode = 'default' | 'serial' | 'parallel';

/** A test, or tests in a `describe`. */
export type Entry = string | { title: string; mode?: Mode; entries: readonly Entry[] };

export interface FakeProject {
  name: string;
  dependencies?: string[];
  teardown?: string;
  fullyParallel?: boolean;
  repeatEach?: number;
  files: Record<string, readonly Entry[]>;
}

interface Node {
  title: string;
  own: Mode | null;
  parent: Node | undefined;
  entries: (Node | TestCase)[];
  location: { file: string; line: number; column: number } | undefined;
  suites: Node[];
  tests: TestCase[];
  allTests(): TestCase[];
  project(): object | undefined;
}

/** A whole suite of these projects in a directory, of which a shard is to be made. */
export function fakeSuite(
  directory: string,
  projects: readonly FakeProject[],
  shard: FullConfig['shard'],
): WholeSuite & { sharded(): boolean } {
  const all = projects.map((each) => ({ dependencies: [], outputDir: join(directory, 'out'), ...each }));
  const root = node('', undefined, null);
  for (const project of all) {
    const suite = node(project.name, root, project.fullyParallel === true ? 'parallel' : null);
    suite.project = () => project;
    for (let repeat = 0; repeat < (project.repeatEach ?? 1); repeat += 1)
      for (const [name, entries] of Object.entries(project.files)) {
        const file = node(name, suite, null);
        file.location = { file: join(directory, name), line: 0, column: 0 };
        fill(file, entries, repeat);
      }
  }
  let isSharded = false;
  const config = { configFile: join(directory, 'playwright.config.ts'), rootDir: directory, projects: all, shard };
  const testRun: WholeSuite['testRun'] = {
    skipSharding: () => {
      isSharded = true;
    },
    exclude: (target) => detach(target as unknown as Node),
    mode: (suite) => modeOf(suite as unknown as Node),
  };
  return {
    config: { ...config, version: '1.65.1', workers: 2 } as unknown as FullConfig,
    suite: root as unknown as Suite,
    testRun,
    sharded: () => isSharded,
  };
}

function node(title: string, parent: Node | undefined, own: Mode | null): Node {
  const made: Node = {
    title,
    own,
    parent,
    entries: [],
    location: undefined,
    get suites() {
      return made.entries.filter((each): each is Node => 'entries' in each);
    },
    get tests() {
      return made.entries.filter((each): each is TestCase => !('entries' in each));
    },
    allTests: () => made.entries.flatMap((each) => ('entries' in each ? each.allTests() : each)),
    project: () => parent?.project(),
  };
  parent?.entries.push(made);
  return made;
}

function fill(suite: Node, entries: readonly Entry[], repeatEachIndex: number): void {
  for (const entry of entries) {
    if (typeof entry !== 'string') {
      fill(node(entry.title, suite, entry.mode ?? null), entry.entries, repeatEachIndex);
      continue;
    }
    const titlePath = () => [...pathOf(suite), entry];
    const test = { title: entry, titlePath, repeatEachIndex, expectedStatus: 'passed', parent: suite };
    suite.entries.push(test as unknown as TestCase);
  }
}

function pathOf(suite: Node): string[] {
  return [...(suite.parent ? pathOf(suite.parent) : []), suite.title];
}

function modeOf(suite: Node): Mode {
  return suite.own ?? (suite.parent ? modeOf(suite.parent) : 'default');
}

/** Like Playwright: a suite without tests goes, too. */
function detach(target: Node): void {
  const { parent } = target;
  if (!parent?.entries.includes(target)) return;
  parent.entries.splice(parent.entries.indexOf(target), 1);
  if (parent.entries.length === 0) detach(parent);
}

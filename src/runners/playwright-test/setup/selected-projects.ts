import type { FullConfig } from '@playwright/test';
import { wildcardTest } from '../../../common/text/wildcard.ts';

type Project = Pick<FullConfig['projects'][number], 'name' | 'dependencies' | 'teardown'> & {
  /** Of a config: false for a project that runs only if the command line names it. */
  default?: boolean | undefined;
};

/** The projects of a config, as the user wrote it or as Playwright resolved it. */
interface Projects {
  projects: readonly Project[];
  /** Set by Playwright since 1.65. */
  filteredProjects?: readonly Project[];
}

/**
 * The names of the projects that this run may run: those selected on the command line, with their dependencies and
 * teardown projects. All projects of the config when the selection is unknown.
 * @param args of this process
 */
export function selectedProjects(config: Projects, args: readonly string[]): Set<string> {
  const { projects, filteredProjects } = config;
  const selected = new Set(filteredProjects?.map(({ name }) => name) ?? namedBy(projects, args));
  for (let before = 0; before < selected.size; ) {
    before = selected.size;
    for (const { name, dependencies, teardown } of projects)
      if (selected.has(name)) for (const other of [...dependencies, teardown ?? name]) selected.add(other);
  }
  return selected;
}

/**
 * The projects that `--project` selects. It takes several names and `*`. An argument that may be a name counts as one.
 */
function namedBy(projects: readonly Project[], args: readonly string[]): string[] {
  const names = projects.map(({ name }) => name);
  const patterns: string[] = [];
  for (const [at, arg] of args.entries()) {
    const [, inline] = /^--project=(.*)$/.exec(arg) ?? [];
    if (inline === undefined && arg !== '--project') continue;
    const rest = args.slice(at + 1);
    const end = rest.findIndex((each) => each.startsWith('-'));
    if (inline !== undefined) patterns.push(inline);
    for (const each of rest.slice(0, end < 0 ? rest.length : end)) patterns.push(each);
  }
  if (patterns.length === 0) return projects.filter((each) => each.default !== false).map(({ name }) => name);
  const isNamed = patterns.map((pattern) => wildcardTest(pattern.toLowerCase()));
  return names.filter((name) => isNamed.some((test) => test(name.toLowerCase())));
}

/** A project of the user's config. */
interface ConfigProject {
  name?: string | undefined;
  dependencies?: string[] | undefined;
  teardown?: string | undefined;
  default?: boolean | undefined;
  isLocal: boolean;
}

/** The projects that a command line selects. */
export interface Selection {
  /** Names of those on hosted browsers. */
  hosted: ReadonlySet<string>;
  /** Whether one of them is on local browsers. */
  hasLocal: boolean;
}

/** @param args of the runner's process */
export function selectionOf(projects: readonly ConfigProject[], args: readonly string[]): Selection {
  const all = projects.map(({ name = '', dependencies = [], ...project }) => ({ ...project, name, dependencies }));
  const names = selectedProjects({ projects: all }, args);
  const selected = all.filter(({ name }) => names.has(name));
  const hosted = selected.filter(({ isLocal }) => !isLocal);
  return { hosted: new Set(hosted.map(({ name }) => name)), hasLocal: hosted.length < selected.length };
}

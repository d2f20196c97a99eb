import { selectedProjects } from '../setup/selected-projects.ts';

/** A project of the user's config. */
interface ConfigProject {
  name?: string | undefined;
  dependencies?: string[] | undefined;
  teardown?: string | undefined;
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

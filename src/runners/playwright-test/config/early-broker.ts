import { spawnBrokerEarly } from '../../../broker/start/spawn-broker.ts';
import { selectedProjects } from '../setup/selected-projects.ts';
import { isPlainRun } from './plain-run.ts';

/** A project of the user's config. */
interface ConfigProject {
  name: string;
  dependencies?: string[] | undefined;
  teardown?: string | undefined;
  isLocal: boolean;
}

/**
 * Starts the broker's process early if the run needs it, so that it is up when the global setup has the run's
 * configuration: only in the runner, and only if the command line selects a project on hosted browsers.
 * @param args of this process
 */
export function startBrokerEarly(projects: readonly ConfigProject[], args: readonly string[]): void {
  if (!isPlainRun(args)) return;
  const all = projects.map(({ dependencies = [], ...project }) => ({ ...project, dependencies }));
  const selected = selectedProjects({ projects: all }, args);
  if (all.some(({ name, isLocal }) => selected.has(name) && !isLocal)) spawnBrokerEarly();
}

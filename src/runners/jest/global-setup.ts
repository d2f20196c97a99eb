import { environmentOptions } from './environment-options.ts';
import { type GlobalConfig, startJestRun } from './run.ts';

/** The part of a Jest project's config that is checked before the run. */
interface ProjectConfig {
  testEnvironmentOptions: Record<string, unknown>;
}

/** The preset's global setup. Starts the broker of the run. */
export default async function globalSetup(globalConfig: GlobalConfig, project?: ProjectConfig): Promise<void> {
  if (project) environmentOptions(project.testEnvironmentOptions);
  await startJestRun(globalConfig);
}

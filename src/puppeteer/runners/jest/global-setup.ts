import { environmentOptions } from './environment-options.ts';
import { type GlobalConfig, startJestRun } from './run.ts';

/** As much of a Jest project's config as is looked at before the run begins. */
interface ProjectConfig {
  testEnvironmentOptions: Record<string, unknown>;
}

/** The preset's global setup: starts the broker of the run. */
export default async function globalSetup(globalConfig: GlobalConfig, project?: ProjectConfig): Promise<void> {
  if (project) environmentOptions(project.testEnvironmentOptions);
  await startJestRun(globalConfig);
}

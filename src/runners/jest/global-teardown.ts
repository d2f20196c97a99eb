import { finishJestRun, type GlobalConfig } from './run.ts';

/** The preset's global teardown. Jest calls it when all reporters are done. Ends the run. */
export default async function globalTeardown(globalConfig: GlobalConfig): Promise<void> {
  await finishJestRun(globalConfig);
}

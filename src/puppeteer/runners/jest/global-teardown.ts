import { finishJestRun, type GlobalConfig } from './run.ts';

/** The preset's global teardown, which runs when all reporters are done: ends the run. */
export default async function globalTeardown(globalConfig: GlobalConfig): Promise<void> {
  await finishJestRun(globalConfig);
}

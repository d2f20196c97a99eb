import { setImmediate as immediate } from 'node:timers/promises';
import { distFile } from '../../../common/dist-file.ts';
import { needsBrowser } from './needs-browser.ts';
import { fetchAhead, finishJestRun, type GlobalConfig } from './run.ts';

/** A file of tests, as Jest's scheduler knows it. */
interface TestFile {
  path: string;
  context: { config: { testEnvironment: string; setupFilesAfterEnv: readonly string[] } };
}

/**
 * Fetches browsers while Jest still starts its workers and loads their files, as many as will be in use at once; and ends
 * the run where Jest does not get to its global teardown.
 */
export default class PoolwrightReporter {
  readonly #config: GlobalConfig;
  /** Files on hosted browsers that run now. */
  readonly #running = new Set<string>();

  constructor(globalConfig: GlobalConfig) {
    this.#config = globalConfig;
  }

  /** Jest waits for it before it starts the file: what is fetched here is there before the file asks. */
  async onTestFileStart({ path, context: { config } }: TestFile): Promise<void> {
    if (config.testEnvironment !== distFile('jest-environment.js')) return;
    if (!needsBrowser([path, ...config.setupFilesAfterEnv])) return;
    this.#running.add(path);
    // The result of the worker's last file comes behind the start of its next one.
    await immediate();
    await fetchAhead(Math.min(this.#running.size, this.#config.maxWorkers));
  }

  onTestFileResult({ path }: TestFile): void {
    this.#running.delete(path);
  }

  /** After this, Jest with `--bail` exits. */
  async onRunComplete(_contexts: unknown, { numFailedTests }: { numFailedTests: number }): Promise<void> {
    const { bail } = this.#config;
    if (bail > 0 && numFailedTests >= bail) await finishJestRun(this.#config);
  }
}

import { setImmediate as immediate } from 'node:timers/promises';
import { distFile } from '../../common/dist-file.ts';
import { needsBrowser } from './needs-browser.ts';
import { finishJestRun, type GlobalConfig, prefetchBrowser } from './run.ts';

/** A test file, as Jest's scheduler passes it. */
interface TestFile {
  path: string;
  context: { config: { testEnvironment: string; setupFilesAfterEnv: readonly string[] } };
}

/**
 * Prefetches as many browsers as will be used at the same time, while Jest still starts workers and loads files. Also
 * ends the run when Jest skips its global teardown.
 */
export default class PoolwrightReporter {
  readonly #config: GlobalConfig;
  /** Running test files that use hosted browsers. */
  readonly #running = new Set<string>();

  constructor(globalConfig: GlobalConfig) {
    this.#config = globalConfig;
  }

  /** Jest awaits this before it starts the file, so the browser is requested before the file needs it. */
  async onTestFileStart({ path, context: { config } }: TestFile): Promise<void> {
    if (config.testEnvironment !== distFile('jest-environment.js')) return;
    if (!needsBrowser([path, ...config.setupFilesAfterEnv])) return;
    this.#running.add(path);
    // Jest reports the result of a worker's previous file after the start of its next one.
    await immediate();
    await prefetchBrowser(Math.min(this.#running.size, this.#config.maxWorkers));
  }

  onTestFileResult({ path }: TestFile): void {
    this.#running.delete(path);
  }

  /** Jest with `--bail` exits after this. */
  async onRunComplete(_contexts: unknown, { numFailedTests }: { numFailedTests: number }): Promise<void> {
    const { bail } = this.#config;
    if (bail > 0 && numFailedTests >= bail) await finishJestRun(this.#config);
  }
}

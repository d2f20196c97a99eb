import { createRequire } from 'node:module';
import type { Circus } from '@jest/types';
import type { TestEnvironment } from 'jest-environment-node';
import { OptionsError } from '../../errors.ts';
import { environmentOptions } from './environment-options.ts';
import { explainMissing } from './failure.ts';
import { FileBrowser, GLOBALS } from './file-browser.ts';
import { needsBrowser } from './needs-browser.ts';

const NodeEnvironment = loadNodeEnvironment();
type Parameters = ConstructorParameters<typeof NodeEnvironment>;

/** Jest's Node environment with a hosted browser, leased before a test file starts and given back at its end. */
export default class PoolwrightEnvironment extends NodeEnvironment {
  readonly #file: FileBrowser | null;

  /** @throws OptionsError for invalid options, or without the global setup */
  constructor(...[config, context]: Parameters) {
    super(config, context);
    const { testEnvironmentOptions, setupFilesAfterEnv, displayName } = config.projectConfig;
    const { isolate, lease } = environmentOptions(testEnvironmentOptions);
    const file = context.testPath;
    const isNeeded = lease === 'always' || needsBrowser([file, ...setupFilesAfterEnv]);
    this.#file = isNeeded ? new FileBrowser({ file, isolate, project: displayName?.name ?? '' }) : null;
  }

  override async setup(): Promise<void> {
    await super.setup();
    const file = this.#file;
    if (!file) return;
    await file.open();
    for (const name of GLOBALS) {
      // A test file may assign its own value to a global.
      let assigned: { value: unknown } | null = null;
      Object.defineProperty(this.global, name, {
        configurable: true,
        enumerable: true,
        get: () => (assigned ? assigned.value : file.globals?.[name]),
        set: (value: unknown) => {
          assigned = { value };
        },
      });
    }
  }

  async handleTestEvent(event: Circus.Event, state: Circus.State): Promise<void> {
    if (this.#file) await this.#file.handle(event, state);
    else if (event.name === 'test_done') explainMissing(event.test);
  }

  override async teardown(): Promise<void> {
    await this.#file?.close();
    await super.teardown();
  }
}

/** Loads Jest's Node environment, of the Jest that runs. It need not be installed next to poolwright. */
function loadNodeEnvironment(): typeof TestEnvironment {
  for (const place of [import.meta.url, `${process.cwd()}/package.json`]) {
    try {
      return createRequire(place)('jest-environment-node').TestEnvironment;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND')) throw error;
    }
  }
  throw new OptionsError(
    'testEnvironment',
    'jest-environment-node is not installed. Run `npm install --save-dev jest-environment-node@<version of your Jest>`.',
    'ENVIRONMENT_MISSING',
  );
}

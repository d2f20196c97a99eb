/** The runners of Puppeteer tests, with the setup that each one needs. */

export type PuppeteerRunner = 'vitest' | 'jest' | 'mocha' | 'node-test';

interface RunnerSetup {
  title: string;
  /** The module that a config names. */
  module: string;
  /** Where the runner looks for its config, the first first. */
  configs: string[];
  /** Runs the tests as its config says. */
  command: string;
  /** Runs them on hosted browsers, with the same config. */
  hosted: string;
  /** The necessary change in test files; null: none. */
  inTests: string | null;
}

const SOURCE = (name: string, ...extensions: string[]) => extensions.map((extension) => `${name}.${extension}`);

export const RUNNERS: Record<PuppeteerRunner, RunnerSetup> = {
  vitest: {
    title: 'Puppeteer with Vitest',
    module: 'poolwright/vitest',
    configs: [
      ...SOURCE('vitest.config', 'ts', 'mts', 'cts', 'js', 'mjs', 'cjs'),
      ...SOURCE('vite.config', 'ts', 'mts', 'cts', 'js', 'mjs', 'cjs'),
    ],
    command: 'vitest run',
    hosted: 'vitest run --config vitest.hosted.config.mjs',
    inTests: "in the test files: import { test } from 'poolwright/vitest', and take `browser` or `page` from it",
  },
  jest: {
    title: 'Puppeteer with Jest',
    module: 'poolwright/jest',
    configs: [...SOURCE('jest.config', 'js', 'ts', 'mjs', 'cjs', 'mts', 'cts', 'json')],
    command: 'jest',
    hosted: 'jest --preset poolwright/jest',
    inTests: null,
  },
  mocha: {
    title: 'Puppeteer with Mocha',
    module: 'poolwright/mocha',
    configs: [...SOURCE('.mocharc', 'js', 'cjs', 'mjs', 'yaml', 'yml', 'jsonc', 'json')],
    command: 'mocha',
    hosted: 'mocha --require poolwright/mocha',
    inTests: null,
  },
  'node-test': {
    title: 'Puppeteer with node:test',
    module: 'poolwright/node-test',
    configs: [],
    command: 'node --test',
    hosted: 'node --require poolwright/node-test --test',
    inTests: null,
  },
};

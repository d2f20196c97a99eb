import { resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../../..');

/** A test as every runner can have it: `body` has `page`, `hostedSession` and `expect`. */
export interface RunnerTest {
  name: string;
  body: string;
  /** ms; else the runner's default. */
  timeout?: number;
}

/** How one runner is set up, and told what to run. */
export interface RunnerKit {
  runner: string;
  /** Packages that must lie beside poolwright, because they import it by its name. */
  packages?: readonly string[];
  /** Its command line, as Node gets it. */
  args: readonly string[];
  /** What turns poolwright on, by file name. */
  config: Record<string, string>;
  /** A file with these tests: its name and its text. */
  file(name: string, tests: readonly RunnerTest[]): [name: string, text: string];
}

const bin = (path: string) => resolve(root, 'node_modules', path);

export const vitest: RunnerKit = {
  runner: 'vitest',
  args: [bin('vitest/vitest.mjs'), 'run', '--reporter=verbose'],
  // Vitest begins with the largest file.
  config: {
    'vitest.config.mjs': `
      import { BaseSequencer } from 'vitest/node';
      class ByName extends BaseSequencer {
        async sort(files) { return [...files].sort((one, other) => (one.moduleId < other.moduleId ? -1 : 1)); }
      }
      export default { test: { globalSetup: 'poolwright/vitest', maxWorkers: 1, fileParallelism: false, testTimeout: 60_000, hookTimeout: 60_000, sequence: { sequencer: ByName } } };`,
  },
  file: (name, tests) => [
    `${name}.test.mjs`,
    `import { test, expect } from 'poolwright/vitest';
    ${tests
      .map(
        ({ name: title, body, timeout }) =>
          `test(${JSON.stringify(title)}, ${timeout === undefined ? '' : `{ timeout: ${timeout} }, `}async ({ page, hostedSession }) => {${body}});`,
      )
      .join('\n')}`,
  ],
};

export const jest: RunnerKit = {
  runner: 'jest',
  args: [bin('jest/bin/jest.js'), '--verbose'],
  // With a limit to its memory, the one worker is a process of its own. Jest begins with the largest file.
  config: {
    'jest.config.cjs': `
      module.exports = { preset: 'poolwright/jest', maxWorkers: 1, workerIdleMemoryLimit: '8GB', testTimeout: 60_000, testSequencer: './by-name.cjs' };`,
    'by-name.cjs': `
      const { default: Sequencer } = require('@jest/test-sequencer');
      module.exports = class extends Sequencer { sort = (tests) => [...tests].sort((one, other) => (one.path < other.path ? -1 : 1)); };`,
  },
  file: (name, tests) => [
    `${name}.test.js`,
    tests
      .map(
        ({ name: title, body, timeout }) =>
          `test(${JSON.stringify(title)}, async () => {${body}}${timeout === undefined ? '' : `, ${timeout}`});`,
      )
      .join('\n'),
  ],
};

/** As much of `expect` as the tests here use, for runners that have none. */
const EXPECT = `
    const strictly = process.getBuiltinModule?.('node:assert/strict') ?? await import('node:assert/strict');
    const expect = (value) => ({
      toBe: (other) => strictly.equal(value, other),
      not: { toBe: (other) => strictly.notEqual(value, other) },
    });`;

const mocha: RunnerKit = {
  runner: 'mocha',
  packages: ['mocha'],
  args: ['node_modules/mocha/bin/mocha.js', '*.test.mjs'],
  config: { '.mocharc.json': JSON.stringify({ require: ['poolwright/mocha'], timeout: 60_000 }) },
  file: (name, tests) => [
    `${name}.test.mjs`,
    `${EXPECT}
    ${tests
      .map(
        ({ name: title, body, timeout }) => `it(${JSON.stringify(title)}, async function () {
      ${timeout === undefined ? '' : `this.timeout(${timeout});`}
      const { page, hostedSession } = this;
      ${body}
    });`,
      )
      .join('\n')}`,
  ],
};

const nodeTest: RunnerKit = {
  runner: 'node-test',
  args: ['--require', 'poolwright/node-test', '--test', '--test-concurrency=1', '--test-reporter=spec'],
  config: {},
  file: (name, tests) => [
    `${name}.test.mjs`,
    `import { test } from 'node:test';
    import { hostedBrowser } from 'poolwright/node-test';
    ${EXPECT}
    const hosted = hostedBrowser();
    ${tests
      .map(
        ({ name: title, body, timeout }) =>
          `test(${JSON.stringify(title)}, ${timeout === undefined ? '' : `{ timeout: ${timeout} }, `}async () => {
      const { page, session: hostedSession } = hosted;
      ${body}
    });`,
      )
      .join('\n')}`,
  ],
};

export const kits: readonly RunnerKit[] = [vitest, jest, mocha, nodeTest];

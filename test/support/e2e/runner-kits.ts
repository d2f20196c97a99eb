import { runnerFile } from './consumer.ts';

/** A test for any runner: `body` can use `page`, `hostedSession` and `expect`. */
export interface RunnerTest {
  name: string;
  body: string;
  /** In ms; default: the runner's. */
  timeout?: number;
}

/** The setup and the command line of one runner. */
export interface RunnerKit {
  runner: string;
  /** Packages that must be beside poolwright, because they import it by name. */
  packages?: readonly string[];
  /** Its command line, as arguments for Node. */
  args: readonly string[];
  /** More arguments, so that a file runs although another one's process was killed; undefined: there is one process. */
  otherProcess?: readonly string[];
  /** Configuration that enables poolwright, by file name. */
  config: Record<string, string>;
  /** Creates a file with these tests: its name and its text. */
  file(name: string, tests: readonly RunnerTest[]): [name: string, text: string];
}

export const vitest: RunnerKit = {
  runner: 'vitest',
  args: [runnerFile('vitest/vitest.mjs'), 'run', '--reporter=verbose'],
  otherProcess: ['--maxWorkers=2', '--fileParallelism'],
  // Vitest starts with the largest file.
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
  args: [runnerFile('jest/bin/jest.js'), '--verbose'],
  otherProcess: ['--maxWorkers=2'],
  // With a memory limit, the single worker is a separate process. Jest starts with the largest file.
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

/** The part of `expect` that these tests use, for runners without it. */
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
  otherProcess: [],
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

/**
 * Tags a runner's test of what is one implementation below all runners: Vitest's runs each time, the others' only with
 * `node scripts/long.mjs`. What a runner does in its own way has a test without this tag.
 */
export function sharedTag(kit: RunnerKit): string[] {
  return kit === vitest ? [] : ['@slow'];
}

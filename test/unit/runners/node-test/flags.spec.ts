import { expect, test } from '@playwright/test';
import { runnerFlags } from '../../../../src/runners/node-test/runner-flags.ts';

/** Settings read from Node's command line. */

test("reads Node's test flags", () => {
  expect(runnerFlags(['--require', 'x', '--test', '--test-concurrency=3'])).toEqual({
    startsProcesses: true,
    watch: false,
    workers: 3,
    shard: null,
  });
  expect(runnerFlags(['--test', '--test-shard', '2/3', '--watch'])).toMatchObject({
    shard: { current: 2, total: 3 },
    watch: true,
  });
  expect(runnerFlags(['--test', '--test-isolation=none'])).toMatchObject({ startsProcesses: false, workers: 1 });
  expect(runnerFlags(['--test', '--experimental-test-isolation=none'])).toMatchObject({ startsProcesses: false });
  expect(runnerFlags([])).toMatchObject({ startsProcesses: false, shard: null });
});

import { expect, test } from '@playwright/test';
import { clientFailure, onClientFailure } from '../../../../src/runners/playwright-test/worker-fixtures.ts';

/** Errors that Playwright throws by itself; test/faults/broken-browsers.spec.ts has a real one. */

const CORE = '/app/node_modules/playwright-core/lib';
const OWN_FRAMES = [
  `    at CRBrowser._onAttachedToTarget (${CORE}/server/chromium/crBrowser.js:146:23)`,
  '    at CRSession.emit (node:events:524:28)',
  `    at ${CORE}/server/chromium/crConnection.js:160:14`,
  '    at process.processImmediate (node:internal/timers:454:9)',
];

function thrown(message: string, frames: readonly string[]): Error {
  return Object.assign(new Error(message), { stack: [`Error: ${message}`, ...frames].join('\n') });
}

test('recognises an error without a frame of the test, and quotes it in one clean line without a secret', () => {
  const error = thrown('targetInfo: {\n  "url": "wss://host/secret"\n}\u001b[31m', OWN_FRAMES);
  expect(clientFailure(error)).toBe('Playwright failed on what it sent: "targetInfo: {   "url": "wss://host/***" }"');
  const windows = OWN_FRAMES.map((frame) => frame.replaceAll('/', '\\'));
  expect(clientFailure(thrown('x'.repeat(1_000), windows))?.length).toBeLessThan(250);
});

for (const [what, frames] of [
  ['of a call of the test', [...OWN_FRAMES, '    at /app/tests/a.spec.ts:6:20']],
  ['of a helper in another package', [...OWN_FRAMES, '    at login (/app/node_modules/helpers/login.js:1:1)']],
  ['of Node alone', ['    at process.processImmediate (node:internal/timers:454:9)']],
  ['without a stack', []],
] as const) {
  test(`leaves an error ${what} to the test`, () => {
    expect(clientFailure(thrown('failed', frames))).toBe(null);
  });
}

test('watches until it is stopped, and ignores values that are not errors', () => {
  const failures: string[] = [];
  const stop = onClientFailure((failure) => failures.push(failure));
  const watching = process.listeners('uncaughtExceptionMonitor').at(-1) as (error: unknown) => void;
  for (const error of [thrown('one', OWN_FRAMES), thrown('two', []), 'text', undefined]) watching(error);
  expect(failures).toEqual(['Playwright failed on what it sent: "one"']);
  stop();
  expect(process.listeners('uncaughtExceptionMonitor')).not.toContain(watching);
  expect(process.listeners('unhandledRejection')).not.toContain(watching);
});

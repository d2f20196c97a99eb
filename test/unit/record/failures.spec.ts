import { expect, test } from '@playwright/test';
import { COMMANDS } from '../../../src/cli/run.ts';
import { errorCodes, ServiceError } from '../../../src/errors.ts';
import { failure, failureOf, lostBrowsers, NEXT_STEPS } from '../../../src/record/failures.ts';

test('each kind of failure has a next step in one sentence, with commands that exist', () => {
  expect(Object.keys(NEXT_STEPS)).toEqual([...errorCodes]);
  const texts = Object.values(NEXT_STEPS);
  for (const text of texts) expect(text).toMatch(/^[A-Z][^\n]*\.$/);
  const named = texts.flatMap((text) => [...text.matchAll(/npx poolwright (\w+)/g)].map(([, name = '']) => name));
  expect(named.filter((name) => !(name in COMMANDS))).toEqual([]);
  expect(new Set(named).size).toBeGreaterThan(4);
});

test('a failure has the code of its error; one without a code is the broker’s', () => {
  const details = { status: 402, request: 'POST /v1/browser/session', retryable: false, attempts: 1 };
  expect(failureOf(new ServiceError('SERVICE_OUT_OF_CREDIT', 'no credit', details))).toEqual({
    code: 'SERVICE_OUT_OF_CREDIT',
    message: 'no credit',
    next: NEXT_STEPS.SERVICE_OUT_OF_CREDIT,
  });
  expect(failureOf(new Error('x'))).toMatchObject({ code: 'BROKER_FAILED', message: 'x' });
  expect(failure('TIMEOUT', 'x'.repeat(20_000)).message).toHaveLength(10_000);
});

test('a lost browser is one failure, however many tests it had', () => {
  const lost = { infrastructureFailures: ['it crashed', 'it crashed'] };
  expect(lostBrowsers([lost, { infrastructureFailures: [] }, lost])).toEqual([failure('BROWSER_LOST', 'it crashed')]);
});

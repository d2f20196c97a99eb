import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import fc from 'fast-check';
import { createLog } from '../../src/broker/log/log.ts';
import { Terminal } from '../../src/broker/log/terminal.ts';
import { unreachableError } from '../../src/clients/shared/connection/unreachable.ts';
import { errorCodes, errorOf, LeaseError, ServiceError } from '../../src/errors.ts';
import { responseFailure } from '../../src/service/http/failures.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { test } from '../support/unit/reporter-fixtures.ts';
import { expectOneLine, text as hostile } from './report/hostile-records.ts';

/** Text of others (session IDs, responses, titles, file names) in messages, in the log and on the terminal. */

test('every error has a message of clean lines, and those of service and lease have one', () => {
  const property = fc.property(fc.constantFrom(...errorCodes), hostile, (code, text) => {
    const error = errorOf(code, `It failed: ${text}.`);
    for (const line of error.message.split('\n')) expectOneLine(line);
    if (error instanceof ServiceError || error instanceof LeaseError) expectOneLine(error.message);
    expect(String(error.stack)).toContain(error.message);
  });
  fc.assert(property, propertyRuns(1_000));
});

test('a response of the service is one clean line of the error', () => {
  const body = fc.oneof(
    hostile,
    fc.record({ error: hostile, code: hostile }).map((fields) => JSON.stringify(fields)),
  );
  const property = fc.property(fc.constantFrom(200, 400, 403, 503), body, hostile, (status, sent, id) => {
    const error = responseFailure(
      { status, body: sent, retryAfterMs: undefined },
      { request: 'GET /v1/browser/session', subject: `session ${id}`, attempt: 1, secrets: [] },
    );
    for (const line of [error.message, error.serviceMessage ?? '', error.serviceCode ?? '']) expectOneLine(line);
  });
  fc.assert(property, propertyRuns(1_000));
});

test("each message of the broker is one clean line of its log and of the run's terminal", async ({ directory }) => {
  const shown: string[] = [];
  const { write } = process.stderr;
  process.stderr.write = ((chunk: string) => shown.push(chunk)) as never;
  try {
    let count = 0;
    const property = fc.property(hostile, hostile, (id, reason) => {
      count += 1;
      const file = join(directory, `broker-${count}.log`);
      const log = createLog({ file, terminal: new Terminal(), secrets: [], debug: true });
      shown.length = 0;
      log.info(`session ${id} ends here: ${reason}`);
      log.notice(`"${id}" is on hold: ${reason}`);
      log.error(`session ${id}`, new Error(reason));
      for (const lines of [readFileSync(file, 'utf8'), shown.join('')].map((output) => output.split('\n'))) {
        expect(lines).toHaveLength(4);
        lines.forEach(expectOneLine);
      }
    });
    fc.assert(property, propertyRuns(200));
  } finally {
    process.stderr.write = write;
  }
});

test('what was not reached is one clean line each', () => {
  const property = fc.property(hostile, (file) => {
    const lines = unreachableError([`${file} was not sent`, 'another one']).message.split('\n');
    expect(lines).toHaveLength(2);
    lines.forEach(expectOneLine);
  });
  fc.assert(property, propertyRuns(200));
});

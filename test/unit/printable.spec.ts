import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import fc from 'fast-check';
import { createLog } from '../../src/broker/log/log.ts';
import { Terminal } from '../../src/broker/log/terminal.ts';
import { checkRelay } from '../../src/clients/playwright/relay/check-relay.ts';
import { unreachableError } from '../../src/clients/shared/connection/unreachable.ts';
import { errorCodes, errorOf, LeaseError, ServiceError } from '../../src/errors.ts';
import { Holds } from '../../src/features/hold/holds.ts';
import { printable } from '../../src/printable.ts';
import { responseFailure } from '../../src/service/http/failures.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { test } from '../support/unit/reporter-fixtures.ts';
import { flawOf, text as hostile } from './report/hostile-records.ts';

/** Text of others (session IDs, responses, titles, file names) in messages, in the log and on the terminal. */

/** Not by `expect`, which takes a minute for thousands of lines. */
function expectOneLine(line: string): void {
  const flaw = flawOf(line) ?? (printable(line) === line ? null : `not printable: ${JSON.stringify(line)}`);
  if (flaw !== null) throw new Error(flaw);
}

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

test('a refusal of a relay is one clean line', async () => {
  let response = { status: 401, body: '' };
  const server = createServer((_request, answer) => answer.writeHead(response.status).end(response.body));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const responses = fc.oneof(
    hostile.map((body) => ({ status: 401, body })),
    hostile.map((version) => ({ status: 200, body: JSON.stringify({ protocol: 2, versions: [version] }) })),
  );
  const property = fc.asyncProperty(responses, async (next) => {
    response = next;
    const refusal = await checkRelay(`ws://127.0.0.1:${port}`, '1.65.0', 'secret of this test').catch((error) => error);
    expectOneLine(refusal.message);
  });
  await fc.assert(property, propertyRuns(100)).finally(() => server.close());
});

test('the reason of a hold, and what was not reached, are clean lines', async () => {
  const broker = { watchOrders: async () => ({ number: 1, isWatched: false, pictures: null }) };
  const holds = new Holds({ broker: broker as never, slot: 0, environment: { CI: '1' } });
  const property = fc.asyncProperty(hostile, hostile, async (reason, file) => {
    const refusal = await holds.hold({} as never, `log in ${reason}`, null).catch((error) => error);
    expectOneLine(refusal.message);
    const lines = unreachableError([`${file} was not sent`, 'another one']).message.split('\n');
    expect(lines).toHaveLength(2);
    lines.forEach(expectOneLine);
  });
  await fc.assert(property, propertyRuns(200));
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

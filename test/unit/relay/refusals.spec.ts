import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from '@playwright/test';
import fc from 'fast-check';
import { checkRelay } from '../../../src/clients/playwright/relay/check-relay.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { expectOneLine, text as hostile } from '../report/hostile-records.ts';

/** Responses of a relay in messages. */

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

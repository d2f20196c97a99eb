import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrokerConfig } from '../../../../src/broker/config/config.ts';
import { startedBroker } from '../../../support/unit/broker/started-broker.ts';
import { API_KEY, expect, json, test } from '../../../support/unit/http-service.ts';

/** A run's configuration with little time to start. */
function config(baseURL: string, startTimeoutMs: number, pool: string | null): BrokerConfig {
  const plan = { pool, fallback: 'fail' as const, session: {}, reuse: 'run' as const, acquireTimeout: 1_000 };
  return {
    runId: 'r1',
    runner: 'playwright',
    mark: 'm1',
    deadMarks: [],
    address: join(tmpdir(), `start-${randomBytes(4).toString('hex')}.sock`),
    token: 'token-0123',
    service: { kind: 'hosted', baseURL, apiKey: API_KEY },
    startTimeoutMs,
    recordDirectory: null,
    workers: 1,
    shard: null,
    name: 'shop',
    suite: 'c0ffee',
    ledgerDirectory: null,
    overRuns: [],
    projects: [{ id: '', name: '', plan }],
    debug: false,
  };
}

test('the error names a service that delays the run beyond its start deadline, with its response', async ({
  service,
}) => {
  service.handle(json(503, { error: 'no capacity today' }, { 'retry-after': '30' }));
  const started = performance.now();
  const failed = await startedBroker(config(service.baseURL, 1_000, null)).catch((error: unknown) => error);
  expect(failed).toMatchObject({ code: 'TIMEOUT' });
  const { message } = failed as Error;
  expect(message).toMatch(/did not start within 1 s/);
  expect(message).toMatch(/waiting for the service to respond/);
  expect(message).toMatch(/503.*no capacity today/);
  expect(message).not.toContain(API_KEY);
  // Before the service's own half minute is over, even on a busy machine.
  expect(performance.now() - started).toBeLessThan(20_000);
});

test('the error names the pool that the run was waiting for', async ({ service }) => {
  const [deadline, later] = [1_500, 1_600];
  service.handle((request, response) => {
    const respond = () => json(200, { sessions: [] })(request, response);
    if (request.path.includes('pool')) setTimeout(respond, later);
    else respond();
  });
  const failed = await startedBroker(config(service.baseURL, deadline, 'pool_e2e')).catch((error: unknown) => error);
  expect(failed).toMatchObject({ code: 'TIMEOUT', message: expect.stringContaining('pool pool_e2e') });
});

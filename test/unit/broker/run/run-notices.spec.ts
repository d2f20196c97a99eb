import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrokerConfig } from '../../../../src/broker/config/config.ts';
import { startedBroker } from '../../../support/unit/broker/started-broker.ts';
import { API_KEY, expect, json, poolBody, test } from '../../../support/unit/http-service.ts';

/** A run of one project, with this pool. */
function configOf(baseURL: string, recordDirectory: string): BrokerConfig {
  const plan = {
    pool: 'pool_e2e',
    fallback: 'session' as const,
    session: {},
    reuse: 'run' as const,
    acquireTimeout: 1_000,
  };
  return {
    runId: 'r1',
    runner: 'playwright',
    mark: 'm1',
    deadMarks: [],
    address: join(tmpdir(), `notices-${randomBytes(4).toString('hex')}.sock`),
    token: 'token-0123',
    service: { kind: 'hosted', baseURL, apiKey: API_KEY },
    startTimeoutMs: 20_000,
    recordDirectory,
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

test("a run's notices before it begins contain no secret, even if the service's messages do", async ({ service }) => {
  const lastError = `proxy socks5://user:hunter22@proxy.test:1080 refused ${API_KEY}`;
  const pool = poolBody('pool_e2e', { status: 'degraded', lastError });
  service.handle((request, response) => {
    const body = request.path.includes('sessions') ? { sessions: [] } : request.path.includes('pool_e2e') ? pool : {};
    return json(200, request.path.endsWith('pools') ? { pools: [pool] } : body)(request, response);
  });
  const directory = test.info().outputPath('record');
  const run = await startedBroker(configOf(service.baseURL, directory));
  try {
    const said = readFileSync(join(directory, 'broker.log'), 'utf8');
    expect(said).toContain('proxy.test:1080 refused');
    expect(said).not.toMatch(new RegExp(`hunter22|${API_KEY}`));
  } finally {
    await run.close();
  }
});

test('the record of a run says how many browsers may run at once', async ({ service }) => {
  const pool = poolBody('pool_e2e', { size: 4 });
  service.handle((request, response) => {
    const bodies = { billing: { plan: { concurrent_browsers: 10 } }, sessions: { sessions: [] }, pool_e2e: pool };
    const known = Object.entries(bodies).find(([part]) => request.path.includes(part));
    return json(200, known?.[1] ?? { pools: [pool] })(request, response);
  });
  // A pool counts where `workers` were chosen by its size: more of them would only wait for a browser to start.
  for (const [workersChosen, browsers] of [
    [false, 10],
    [true, 4],
  ] as const) {
    const directory = test.info().outputPath(`${browsers}`);
    const run = await startedBroker({ ...configOf(service.baseURL, directory), workersChosen });
    await run.close();
    expect(JSON.parse(readFileSync(join(directory, 'run.json'), 'utf8')).browsers).toBe(browsers);
  }
});

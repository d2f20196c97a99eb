import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startedBroker } from '../../../support/unit/broker/started-broker.ts';
import { API_KEY, expect, json, poolBody, test } from '../../../support/unit/http-service.ts';

test("a run's notices before it begins contain no secret, even if the service's messages do", async ({ service }) => {
  const lastError = `proxy socks5://user:hunter22@proxy.test:1080 refused ${API_KEY}`;
  const pool = poolBody('pool_e2e', { status: 'degraded', lastError });
  service.handle((request, response) => {
    const body = request.path.includes('sessions') ? { sessions: [] } : request.path.includes('pool_e2e') ? pool : {};
    return json(200, request.path.endsWith('pools') ? { pools: [pool] } : body)(request, response);
  });
  const directory = test.info().outputPath('record');
  const plan = {
    pool: 'pool_e2e',
    fallback: 'session' as const,
    session: {},
    reuse: 'run' as const,
    acquireTimeout: 1_000,
  };
  const run = await startedBroker({
    runId: 'r1',
    runner: 'playwright',
    mark: 'm1',
    deadMarks: [],
    address: join(tmpdir(), `notices-${randomBytes(4).toString('hex')}.sock`),
    token: 'token-0123',
    service: { kind: 'hosted', baseURL: service.baseURL, apiKey: API_KEY },
    startTimeoutMs: 20_000,
    recordDirectory: directory,
    workers: 1,
    shard: null,
    name: 'shop',
    suite: 'c0ffee',
    ledgerDirectory: null,
    overRuns: [],
    projects: [{ id: '', name: '', plan }],
    debug: false,
  });
  try {
    const said = readFileSync(join(directory, 'broker.log'), 'utf8');
    expect(said).toContain('proxy.test:1080 refused');
    expect(said).not.toMatch(new RegExp(`hunter22|${API_KEY}`));
  } finally {
    await run.close();
  }
});

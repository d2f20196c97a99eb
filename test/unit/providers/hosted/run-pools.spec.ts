import { expect, test } from '@playwright/test';
import { hosted, memoryLedger, planOf, run } from '../../../support/unit/broker/broker-parts.ts';
import { poolBody } from '../../../support/unit/http-service.ts';

/** A service without pools, which records the creates. */
function poolsOf(createsNamed: boolean) {
  const created: unknown[] = [];
  const client = {
    createPool: async (request: { name: string }) => {
      created.push(request);
      return poolBody('pool_1', request);
    },
    getPool: async () => undefined,
    listPools: async () => [],
    deletePool: async () => undefined,
  };
  const pools = hosted(client).pools.ofRun(run, memoryLedger(), 3, createsNamed);
  return { pools, created };
}

const PLAN = planOf({
  pool: 'e2e',
  session: { type: 'hosted_stealth', country: 'DE', duration: 600, browserCheck: true },
});

test("a named pool › is created on the run's emulator, with a browser per worker and the session's settings", async () => {
  const { pools, created } = poolsOf(true);
  const [first, second] = await Promise.all([pools.resolve(PLAN), pools.resolve(planOf({ pool: 'e2e' }))]);
  expect(first).toMatchObject({ id: 'pool_1', size: 3 });
  expect(second?.id).toBe(first?.id);
  const note = expect.stringContaining(run.mark);
  expect(created).toEqual([{ name: 'e2e', size: 3, browser: { country: 'DE', note } }]);
  expect(await pools.resolve(planOf())).toBe(null);
});

test('a named pool › is not created on a service', async () => {
  const { pools, created } = poolsOf(false);
  await expect(pools.resolve(PLAN)).rejects.toMatchObject({ field: 'pool' });
  expect(created).toEqual([]);
});

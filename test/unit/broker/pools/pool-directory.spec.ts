import { expect, test } from '@playwright/test';
import type { BrowserService } from '../../../../src/broker/browsers/browser-service.ts';
import { PoolDirectory } from '../../../../src/broker/pools/pool-directory.ts';
import { memoryLedger, planOf, run } from '../../../support/unit/broker/broker-parts.ts';
import { poolBody } from '../../../support/unit/http-service.ts';

/** A service without pools, which records the creates. */
function directoryOf(createsNamed: boolean) {
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
  const pools = new PoolDirectory(client as unknown as BrowserService, run, memoryLedger(), {
    workers: 3,
    createsNamed,
  });
  return { pools, created };
}

const PLAN = planOf({
  pool: 'e2e',
  session: { type: 'hosted_stealth', country: 'DE', duration: 600, browserCheck: true },
});

test("a named pool › is created on the run's emulator, with a browser per worker and the session's settings", async () => {
  const { pools, created } = directoryOf(true);
  const [first, second] = await Promise.all([pools.resolve(PLAN), pools.resolve(planOf({ pool: 'e2e' }))]);
  expect(first).toMatchObject({ id: 'pool_1', name: 'e2e', size: 3 });
  expect(second).toBe(first);
  const note = expect.stringContaining(run.mark);
  expect(created).toEqual([{ name: 'e2e', size: 3, browser: { country: 'DE', note } }]);
  expect(await pools.resolve(planOf())).toBe(null);
});

test('a named pool › is not created on a service', async () => {
  const { pools, created } = directoryOf(false);
  await expect(pools.resolve(PLAN)).rejects.toMatchObject({ field: 'pool' });
  expect(created).toEqual([]);
});

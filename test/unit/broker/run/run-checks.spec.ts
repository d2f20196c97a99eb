import { expect, test } from '@playwright/test';
import { checkRun, type RunChecks } from '../../../../src/broker/run/run-checks.ts';
import { OptionsError } from '../../../../src/errors.ts';
import { HostedPool } from '../../../../src/providers/hosted/pools/hosted-pool.ts';
import type { Pool, ServiceClient } from '../../../../src/service/index.ts';
import { hosted, planOf } from '../../../support/unit/broker/broker-parts.ts';
import { poolBody } from '../../../support/unit/http-service.ts';

/** The checks before a run begins, their order, and their results. */

interface World {
  limit?: number | null;
  balance?: number | null;
  pools?: Record<string, Pool>;
}

/** A start that records what it waits for, and a service that responds as the test wants. */
function checksOf({ limit = 10, balance = 100, pools = {} }: World, more: Partial<RunChecks> = {}) {
  const steps: string[] = [];
  const checks = {
    provider: hosted({
      listSessions: async () => void steps.push('list'),
      getBilling: async () => {
        if (limit === null) throw new Error('not for this key');
        return { plan: { concurrent_browsers: limit } };
      },
      getBalance: async () => {
        if (balance === null) throw new Error('not for this key');
        return { balance_cents: balance };
      },
    }),
    start: {
      step: async (what: string, work: (signal: AbortSignal) => Promise<unknown>) => {
        steps.push(what);
        return await work(new AbortController().signal);
      },
    },
    sweep: {
      begin: async () => {
        steps.push('sweep');
        return ['stopped 1 browser'];
      },
    },
    lacksLedger: false,
    pools: {
      resolve: async ({ pool: name }: { pool: string }) => {
        steps.push(`look up ${name}`);
        const pool = pools[name];
        if (!pool) throw new OptionsError('pool', `there is no pool "${name}"`);
        return new HostedPool({} as ServiceClient, pool);
      },
    },
    plans: [],
    workers: 4,
    shard: null,
    ...more,
  } as unknown as RunChecks;
  return { checks, steps };
}

test('checks the service, then what dead runs left, then the pools, then limit and balance', async () => {
  const pools = { warm: poolBody('warm', { size: 4 }) };
  const plans = [planOf({ pool: 'warm' }), planOf(), planOf({ pool: { create: {} } })];
  const { checks, steps } = checksOf({ pools }, { plans });
  expect(await checkRun(checks)).toEqual({
    limit: 10,
    balance: 100,
    poolSizes: new Map([['warm', 4]]),
    notices: ['stopped 1 browser'],
  });
  expect(steps).toEqual(['the service to respond', 'list', 'sweep', 'the service to find pool warm', 'look up warm']);
});

test('a missing pool keeps the run from beginning', async () => {
  const { checks } = checksOf({}, { plans: [planOf({ pool: 'nowhere' })] });
  await expect(checkRun(checks)).rejects.toMatchObject({ code: 'OPTIONS_INVALID', field: 'pool' });
});

test('the search for a pool ends with the time for the start', async () => {
  const over = new AbortController();
  const start: RunChecks['start'] = { step: async (_what, work) => await work(over.signal) };
  const pools: RunChecks['pools'] = {
    resolve: async (_name, signal) => {
      over.abort(new Error('the time is over'));
      signal?.throwIfAborted();
      throw new Error('it has no signal');
    },
  };
  const { checks } = checksOf({}, { plans: [planOf({ pool: 'slow' })], start, pools });
  await expect(checkRun(checks)).rejects.toThrow('the time is over');
});

test('the limit of a provider is called by its name', async () => {
  const { checks } = checksOf({ limit: 3 }, { sweep: null });
  const limited = { by: 'browsers.ts', reached: 'all are in use', starting: '', isShared: false };
  Object.assign(checks.provider, { limited });
  const { notices } = await checkRun(checks);
  expect(notices).toEqual([expect.stringMatching(/^warning: 4 workers want 4 browsers, and browsers.ts allows 3/)]);
});

test('data that the key may not read is unknown, and causes no warning', async () => {
  const { checks } = checksOf({ limit: null, balance: null }, { sweep: null });
  expect(await checkRun(checks)).toEqual({ limit: null, balance: null, poolSizes: new Map(), notices: [] });
});

for (const [what, world, more, said] of [
  ['more workers than the plan allows', { limit: 3 }, {}, /^warning: 4 workers want 4 browsers, and the plan allows 3/],
  [
    'more shards than the plan allows',
    { limit: 7 },
    { shard: { current: 1, total: 2 } },
    /^warning: 4 workers × 2 shards want 8 browsers, and the plan allows 7/,
  ],
  ['no credit', { balance: 0 }, {}, /^warning: the workspace's balance is 0 cents/],
  ['no ledger', {}, { lacksLedger: true }, /^warning: no ledger of this run is kept/],
  [
    'a pool with fewer browsers',
    { pools: { small: poolBody('small', { size: 1 }) } },
    { plans: [planOf({ pool: 'small' }), planOf({ pool: 'small' })] },
    /^warning: 4 workers want 4 browsers of pool .*, which keeps 1 warm/,
  ],
  [
    'a paused pool',
    { pools: { off: poolBody('off', { status: 'paused' }) } },
    { plans: [planOf({ pool: 'off', fallback: 'fail' })] },
    /^warning: pool .* is paused: workers wait, and fail at `acquireTimeout`/,
  ],
] as const) {
  test(`${what}: warns the user once`, async () => {
    const { checks } = checksOf(world, { sweep: null, ...more });
    const { notices } = await checkRun(checks);
    expect(notices).toEqual([expect.stringMatching(said)]);
  });
}

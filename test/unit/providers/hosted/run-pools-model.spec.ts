import { deepEqual } from 'node:assert/strict';
import { test } from '@playwright/test';
import fc from 'fast-check';
import type { Ledger } from '../../../../src/broker/ledger/ledger.ts';
import type { ServiceError } from '../../../../src/errors.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { hosted, memoryLedger, planOf, run } from '../../../support/unit/broker/broker-parts.ts';
import { FakeClock } from '../../../support/unit/broker/fake-clock.ts';
import { type Outcome, ScriptedService } from '../../../support/unit/broker/scripted-service.ts';

/**
 * Pools created for a run, in a workspace where other runs use the same user-defined names. Whatever the service
 * responds, every pool of this run is deleted, at the run's end or by a sweep after the broker died, and no other run's
 * pool is.
 */

/** Two projects without a name, two with different names, and one that repeats a name. */
const POOLS = [
  { create: {} },
  { create: { size: 3 } },
  { create: { name: 'nightly' } },
  { create: { name: 'smoke', browser: { note: 'ours' } } },
  { create: { name: 'nightly', size: 2 } },
];

type Step =
  | { do: 'get'; pool: number }
  | { do: 'answer'; outcome: Outcome }
  | { do: 'listFails' }
  | { do: 'other'; name: string; starts: boolean }
  | { do: 'advance'; ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('get' as const), pool: fc.nat(POOLS.length - 1) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      outcome: fc.constantFrom<Outcome[]>('ok', 403, 409, 502, 503, 'reset-done', 'reset-undone'),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'listFails' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('other' as const),
      name: fc.constantFrom('nightly', 'smoke'),
      starts: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(0, 10, 100) }) },
);

/** A ledger whose pools can be read: the content on disk. */
class PoolLedger {
  readonly pools = new Set<string>();
  readonly ledger: Ledger = memoryLedger();

  constructor() {
    this.ledger.poolAsked = (name) => void this.pools.add(name);
    this.ledger.poolGone = (name) => void this.pools.delete(name);
  }
}

async function play(steps: readonly Step[], end: 'run' | 'sweep'): Promise<string[]> {
  const clock = new FakeClock();
  const service = new ScriptedService(clock);
  const book = new PoolLedger();
  const pools = hosted(service).pools.ofRun(run, book.ledger, 4, false);
  const got: string[] = [];
  const collisions: string[] = [];
  const refuses = steps.some((each) => each.do === 'answer' && each.outcome === 409);
  for (const each of steps) {
    if (each.do === 'get') {
      const options = POOLS[each.pool] as (typeof POOLS)[number];
      pools.resolve(planOf({ pool: options })).then(
        (pool) => pool && got.push(pool.id),
        (error: ServiceError) => {
          if (!options.create.name && error.status === 409 && !refuses)
            collisions.push('a name of ours was used twice');
        },
      );
    } else if (each.do === 'answer') service.script.pool.push(each.outcome);
    else if (each.do === 'listFails') service.script.list.push(503);
    else if (each.do === 'other') otherRun(service, each.name, each.starts);
    await clock.advance(each.do === 'advance' ? each.ms : 0);
  }
  await clock.advance(1_000);
  service.script.pool.length = 0;
  service.script.list.length = 0;
  const problems = collisions.concat(
    got.filter((id) => !service.pools.get(id)?.ours).map((id) => `${id} was leased, but is not ours`),
  );
  if (end === 'run') {
    const ending = pools.deleteOwn();
    await clock.advance(1_000);
    problems.push(...(await ending).map((failure) => `not deleted: ${failure}`));
    if (book.pools.size > 0) problems.push(`still in the ledger: ${[...book.pools]}`);
  } else {
    for (const entry of book.pools) {
      const deleted = hosted(service).pools.delete(entry, run.mark);
      await clock.advance(1_000);
      await deleted;
    }
  }
  for (const { name, ours } of service.pools.values()) if (ours) problems.push(`${name} was left`);
  return [...problems, ...service.violations];
}

function otherRun(service: ScriptedService, name: string, starts: boolean): void {
  const taken = [...service.pools.values()].find((pool) => pool.name === name);
  if (starts && !taken) service.addPool(name, { note: 'poolwright pool of ffffffff' });
  if (!starts && taken && !taken.ours) service.pools.delete(taken.id);
}

for (const end of ['run', 'sweep'] as const) {
  test(`deletes every pool of the run and no pool of another run (deleted by the ${end})`, async () => {
    const property = fc.asyncProperty(fc.array(step, { maxLength: 25, size: 'max' }), async (steps) => {
      deepEqual(await play(steps, end), []);
    });
    await fc.assert(property, propertyRuns(1_000));
  });
}

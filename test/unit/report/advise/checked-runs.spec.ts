import { expect, test } from '@playwright/test';
import { modelOf } from '../../../../src/report/advise/past/model.ts';
import { shardJobs } from '../../../../src/report/advise/simulation/predict.ts';
import { checksOf, pastRunOf, readCheckedRuns } from '../../../support/unit/advise/checked-runs.ts';

/** Compares predictions with real runs with other numbers. bench/results/advise.md lists the errors. */

const runs = readCheckedRuns();
/** The errors that `node scripts/advise-check.mjs` measured, plus a tolerance. */
const MOST_ERROR = 0.15;

for (const check of checksOf(runs)) {
  const { suite, from, to, realMs, predictedMs, error } = check;
  const name = `${suite}: ${to.workers} × ${to.shards} from ${from.workers} × ${from.shards}`;
  test(name, () => {
    expect(realMs).toBeGreaterThan(1_000);
    expect(Math.abs(error), `${predictedMs} ms, and it took ${realMs} ms`).toBeLessThan(MOST_ERROR);
  });
}

test('predicts from a run without shards which tests are in which shard', () => {
  const [whole, sharded] = [runs.find(({ shards }) => shards === 1), runs.find(({ shards }) => shards === 2)];
  if (!whole || !sharded) throw new Error('there are no such runs');
  const model = modelOf([pastRunOf(whole)]);
  const real = pastRunOf(sharded).parts.map(({ sessions }) =>
    [...new Set(sessions.flatMap(({ tests }) => tests.map(({ id }) => id)))].sort(),
  );
  const told = [1, 2].map((current) =>
    shardJobs(model, { tries: [] }, { current, total: 2 })
      .flat()
      .flatMap(({ tests }) => tests.map(({ test: n }) => model.tests[n]?.id))
      .sort(),
  );
  expect(told).toEqual(real);
});

import type { TestGroup } from '../past/model.ts';

/**
 * The groups of a shard, as Playwright assigns them: each shard gets the same number of consecutive tests, and a group
 * belongs to the shard of its first test.
 * @param current from 1
 */
export function ofShard<G extends Pick<TestGroup, 'tests'>>(groups: readonly G[], current: number, total: number): G[] {
  const tests = groups.reduce((count, group) => count + group.tests.length, 0);
  const size = Math.floor(tests / total);
  const larger = tests % total;
  const from = (current - 1) * size + Math.min(current - 1, larger);
  const to = from + size + (current <= larger ? 1 : 0);
  let first = 0;
  return groups.filter((group) => {
    const isHere = first >= from && first < to;
    first += group.tests.length;
    return isHere;
  });
}

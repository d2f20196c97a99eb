import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import { ofShard } from '../../../src/advise/simulation/shards.ts';
import { propertyRuns } from '../../support/property-runs.ts';

const groupsOf = (...sizes: number[]) =>
  sizes.map((size, name) => ({ name, tests: Array.from({ length: size }, (_, n) => n) }));
const names = (sizes: number[], total: number) =>
  Array.from({ length: total }, (_, n) => ofShard(groupsOf(...sizes), n + 1, total).map(({ name }) => name));

test('shards get the same number of tests, and a group goes where its first test does', () => {
  expect(names([1, 1, 1, 1], 2)).toEqual([
    [0, 1],
    [2, 3],
  ]);
  expect(names([1, 1, 1, 1, 1], 2)).toEqual([
    [0, 1, 2],
    [3, 4],
  ]);
  expect(names([3, 1, 1, 1], 2)).toEqual([[0], [1, 2, 3]]);
  expect(names([5, 1], 2)).toEqual([[0], [1]]);
  expect(names([1, 5], 2)).toEqual([[0, 1], []]);
  expect(names([2, 2], 4)).toEqual([[0], [], [1], []]);
});

test('every group is in one shard, and a shard has groups that follow each other', () => {
  const property = fc.property(
    fc.array(fc.integer({ min: 1, max: 9 })),
    fc.integer({ min: 1, max: 12 }),
    (sizes, total) => {
      expect(names(sizes, total).flat()).toEqual(sizes.map((_, n) => n));
    },
  );
  fc.assert(property, propertyRuns(300));
});

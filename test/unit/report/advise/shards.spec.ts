import { deepEqual } from 'node:assert/strict';
import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import { ofShard } from '../../../../src/report/advise/simulation/predict.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const groupsOf = (...sizes: number[]) =>
  sizes.map((size, name) => ({ name, tests: Array.from({ length: size }, (_, n) => n) }));
const names = (sizes: number[], total: number) =>
  Array.from({ length: total }, (_, n) => ofShard(groupsOf(...sizes), n + 1, total).map(({ name }) => name));

test('gives shards the same number of tests, and a group to the shard of its first test', () => {
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

test('puts every group into one shard, and consecutive groups into each shard', () => {
  const property = fc.property(
    fc.array(fc.integer({ min: 1, max: 9 })),
    fc.integer({ min: 1, max: 12 }),
    (sizes, total) => {
      deepEqual(
        names(sizes, total).flat(),
        sizes.map((_, n) => n),
      );
    },
  );
  fc.assert(property, propertyRuns(300));
});

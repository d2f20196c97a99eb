import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import { labelsOf, ticks } from '../../../../src/report/timeline/page/scale.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

test('uses one unit per axis: decimal seconds on short runs, clock times on longer ones', () => {
  expect(labelsOf(ticks(1_350, 10))).toEqual(['0.0 s', '0.2 s', '0.4 s', '0.6 s', '0.8 s', '1.0 s', '1.2 s']);
  expect(labelsOf(ticks(65_000, 5))).toEqual(['0:00', '0:15', '0:30', '0:45', '1:00']);
  expect(labelsOf(ticks(7_400_000, 5))).toEqual(['0:00', '30:00', '1:00:00', '1:30:00', '2:00:00']);
  expect(labelsOf([0])).toEqual(['0:00']);
});

test('gives every tick a different label, for any length and width', () => {
  const property = fc.property(
    fc.double({ min: 1, max: 4e14, noNaN: true }),
    fc.integer({ min: 2, max: 40 }),
    (length, most) => {
      const labels = labelsOf(ticks(length, most));
      expect(new Set(labels).size).toBe(labels.length);
      expect(labels.length).toBeLessThanOrEqual(most + 1);
      expect(new Set(labels.map((label) => label.endsWith(' s'))).size).toBe(1);
    },
  );
  fc.assert(property, propertyRuns(500));
});

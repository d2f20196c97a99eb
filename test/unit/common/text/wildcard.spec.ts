import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import { wildcardTest } from '../../../../src/common/text/wildcard.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

test('matches what the regular expression matches', () => {
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*', '.'), maxLength: 8 });
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 10 });
  fc.assert(
    fc.property(pattern, text, (glob, value) => {
      const expression = new RegExp(`^${glob.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
      expect(wildcardTest(glob)(value)).toBe(expression.test(value));
    }),
    propertyRuns(2_000),
  );
});

test('needs no more time for sixty stars', () => {
  const hostile = wildcardTest(`/${'*a'.repeat(60)}b`);
  const started = performance.now();
  expect(hostile(`/${'a'.repeat(10_000)}`)).toBe(false);
  expect(hostile(`/${'a'.repeat(10_000)}b`)).toBe(true);
  expect(performance.now() - started).toBeLessThan(5_000);
});

import { expect, test } from '@playwright/test';
import { goalsOf, span } from '../../../../../src/cli/report/advise/goals.ts';
import { OptionsError } from '../../../../../src/errors.ts';

test('parses times such as 5m and 1h30m', () => {
  expect(['5m', '90s', '1h30m', '1.5 min', '2h 5m 3s', '250ms'].map(span)).toEqual([
    300_000, 90_000, 5_400_000, 90_000, 7_503_000, 250,
  ]);
  for (const wrong of ['', '5', 'soon', '5 minutes or so', '0s', '-5m'])
    expect(() => span(wrong)).toThrow('such as 5m');
});

test('names the option when a number is out of range or a cost has no prices', () => {
  for (const [flags, field] of [
    [{ browsers: 0 }, '--browsers'],
    [{ shards: 0 }, '--shards'],
    [{ shards: 1_001 }, '--shards'],
    [{ limit: -1 }, '--limit'],
    [{ cost: 5 }, '--cost'],
    [{ cost: -5, pricePerHour: 1 }, '--cost'],
    [{ pricePerGb: -1 }, '--price-per-gb'],
  ] as const) {
    expect(() => goalsOf(flags)).toThrow(expect.objectContaining({ constructor: OptionsError, field }));
  }
  expect(goalsOf({ cost: 5, pricePerGb: 2 })).toMatchObject({ cost: 5, prices: { perHour: 0, perGb: 2 } });
});

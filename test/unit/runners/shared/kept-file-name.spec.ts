import { expect, test } from '@playwright/test';
import { keptFileName } from '../../../../src/runners/shared/test-run.ts';

/** Files about tests. */

test('names a file after its test, differently for each try', () => {
  expect(keptFileName(['Kasse', 'zahlt  mit/ Karte?'], 'id', 0)).toMatch(/^kasse-zahlt-mit-karte-[0-9a-f]{8}\.html$/);
  expect(keptFileName(['a'], 'id', 0)).not.toBe(keptFileName(['a'], 'id', 1));
  expect(keptFileName(['a'], 'one', 0)).not.toBe(keptFileName(['a'], 'other', 0));
  expect(keptFileName(['../../etc'], 'id', 0)).toMatch(/^etc-\w+\.html$/);
  expect(keptFileName(['…'], 'id', 0)).toMatch(/^test-\w+\.html$/);
});

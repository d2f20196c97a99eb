import { expect, test } from '@playwright/test';
import { Meter } from '../../../../src/cdp/figures.ts';
import { namesOf, OTHERS } from '../../../support/unit/cdp/names-of.ts';

test('counts behind what serves requests here, and before hidden targets', async () => {
  const before = ['BackForwardCache', ...OTHERS];
  expect(await namesOf({ meter: new Meter() })).toEqual([...before, 'Metering', 'HiddenTargets', 'Distance']);
});

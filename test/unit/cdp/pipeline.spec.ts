import { expect, test } from '@playwright/test';
import { Screencast } from '../../../src/cdp/screencast/screencast.ts';
import { parseNetworkRules } from '../../../src/options/network-rules.ts';
import { namesOf, OTHERS } from '../../support/unit/cdp/names-of.ts';

test('orders the interceptors from Playwright to the browser', async () => {
  const proxiedHosts = parseNetworkRules('<loopback>');
  expect(await namesOf({ proxiedHosts, persistent: { clear: true } })).toEqual([
    'BackForwardCache',
    'LostScreenshots',
    'Network',
    'Downloads',
    'Uploads',
    'PersistentContext',
    'Distance',
  ]);
});

test('places pictures after the interceptors that may open a session on the browser', async () => {
  expect(await namesOf({ screencast: new Screencast() })).toEqual([
    'BackForwardCache',
    ...OTHERS,
    'HiddenTargets',
    'Filming',
    'Distance',
  ]);
});

test('leaves out interceptors that are not enabled', async () => {
  expect(await namesOf({})).toEqual(['BackForwardCache', ...OTHERS, 'HiddenTargets', 'Distance']);
});

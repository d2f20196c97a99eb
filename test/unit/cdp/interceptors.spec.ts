import { expect, test } from '@playwright/test';
import { type InterceptorOptions, playwrightInterceptors } from '../../../src/cdp/interceptors.ts';
import { Meter } from '../../../src/cdp/metering/meter.ts';
import type { InterceptorLink } from '../../../src/cdp/transport/interceptor.ts';
import { parseNetworkRules } from '../../../src/options/network-rules.ts';

const unused = () => {
  throw new Error('nothing is sent or delivered while the list is made');
};
const link = { call: unused, post: unused, deliver: unused, send: unused } as InterceptorLink;

async function namesOf(options: InterceptorOptions): Promise<string[]> {
  return (await playwrightInterceptors(options)).map((create) => create(link).constructor.name);
}

test('the order, from Playwright to the browser', async () => {
  const bridge = parseNetworkRules('<loopback>');
  expect(await namesOf({ bridge, meter: new Meter(), persistent: { clear: true } })).toEqual([
    'BackForwardCache',
    'Uploads',
    'NetworkBridge',
    'Downloads',
    'Metering',
    'PersistentContext',
  ]);
});

test('what is not asked for is not there', async () => {
  expect(await namesOf({})).toEqual(['BackForwardCache', 'Uploads', 'Downloads', 'HiddenTargets']);
});

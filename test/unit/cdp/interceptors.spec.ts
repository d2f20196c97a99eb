import { expect, test } from '@playwright/test';
import { Savings } from '../../../src/cdp/ahead/savings.ts';
import { type InterceptorOptions, interceptorsFor } from '../../../src/cdp/interceptors.ts';
import { Meter } from '../../../src/cdp/metering/meter.ts';
import { BrowserModel } from '../../../src/cdp/model/browser-model.ts';
import type { InterceptorLink } from '../../../src/cdp/transport/interceptor.ts';
import { parseNetworkRules } from '../../../src/options/network-rules.ts';

const unused = () => {
  throw new Error('nothing is sent or delivered while the list is made');
};
const link: InterceptorLink = {
  model: new BrowserModel(),
  call: unused,
  post: unused,
  deliver: unused,
  send: unused,
};

async function namesOf(options: InterceptorOptions): Promise<string[]> {
  return (await interceptorsFor(options)).map((create) => create(link).constructor.name);
}

test('the order, from Playwright to the browser', async () => {
  const bridge = parseNetworkRules('<loopback>');
  expect(await namesOf({ bridge, meter: new Meter(), persistent: { clear: true } })).toEqual([
    'BackForwardCache',
    'LostScreenshots',
    'NetworkBridge',
    'Downloads',
    'Uploads',
    'Metering',
    'PersistentContext',
  ]);
});

const OTHERS = ['LostScreenshots', 'Downloads', 'Uploads'];

test('what is sent ahead is sent in the place of Playwright, and the distance is measured at the very end', async () => {
  const savings = new Savings();
  expect(await namesOf({ ahead: { savings, contexts: true } })).toEqual([
    'ClientEnd',
    'BackForwardCache',
    'EarlyClose',
    'ContextsAhead',
    'ScriptsAhead',
    'ReadsAhead',
    ...OTHERS,
    'HiddenTargets',
    'Distance',
  ]);
});

test('no context is made where none is asked for: a browser for one test, a persistent context', async () => {
  const savings = new Savings();
  const pages = ['ClientEnd', 'BackForwardCache', 'ScriptsAhead', 'ReadsAhead', ...OTHERS];
  expect(await namesOf({ ahead: { savings, contexts: false } })).toEqual([...pages, 'HiddenTargets', 'Distance']);
  const persistent = { ahead: { savings, contexts: true }, persistent: { clear: false } };
  expect(await namesOf(persistent)).toEqual([...pages, 'PersistentContext', 'Distance']);
});

test('what is not asked for is not there', async () => {
  expect(await namesOf({})).toEqual(['BackForwardCache', ...OTHERS, 'HiddenTargets']);
});

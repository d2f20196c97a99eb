import { expect, test } from '@playwright/test';
import { Meter, Savings } from '../../../../src/cdp/figures.ts';
import type { CdpMessage } from '../../../../src/cdp/message.ts';
import { type InterceptorOptions, interceptorsFor } from '../../../../src/cdp/pipeline.ts';
import { InterceptorList } from '../../../../src/cdp/transport/interceptor-list.ts';
import { namesOf, OTHERS } from '../../../support/unit/cdp/names-of.ts';

test('places early commands next to Playwright, and the latency measurement next to the browser', async () => {
  expect(await namesOf({ ahead: true, sharesBrowser: true })).toEqual([
    'BackForwardCache',
    'EarlyClose',
    'PreparedContexts',
    'PipelinedScripts',
    'PipelinedReads',
    ...OTHERS,
    'HiddenTargets',
    'Distance',
  ]);
});

test('creates no context in advance for one-test browsers and persistent contexts', async () => {
  const pages = ['BackForwardCache', 'PipelinedScripts', 'PipelinedReads', ...OTHERS];
  expect(await namesOf({ ahead: true })).toEqual([...pages, 'HiddenTargets', 'Distance']);
  const persistent = { ahead: true, sharesBrowser: true, persistent: { clear: false } };
  expect(await namesOf(persistent)).toEqual([...pages, 'PersistentContext', 'Distance']);
});

test('prepares pages and sends reads for Puppeteer in front of the other interceptors', async () => {
  const client = 'puppeteer';
  const early = ['EarlyClose', 'PreparedPages', 'PuppeteerReads'];
  const others = [...OTHERS, 'HiddenTargets', 'Distance'];
  expect(await namesOf({ client, ahead: true, sharesBrowser: true })).toEqual(['KeepBrowserOpen', ...early, ...others]);
  // A browser for one test has no next page.
  expect(await namesOf({ client, ahead: true })).toEqual(['KeepBrowserOpen', 'PuppeteerReads', ...others]);
  expect(await namesOf({ client, sharesBrowser: true })).toEqual(['KeepBrowserOpen', ...others]);
});

test('passes a navigation of Puppeteer on at once, and its response, while the next context is being created', async () => {
  const savings = new Savings(0);
  savings.measured(100);
  const auto = { onVisit: () => undefined, onDenied: () => undefined };
  const client = 'puppeteer';
  const options: InterceptorOptions = {
    client,
    ahead: true,
    sharesBrowser: true,
    savings,
    meter: new Meter(),
    auto,
  };
  const [toBrowser, toClient]: [CdpMessage[], CdpMessage[]] = [[], []];
  const list = new InterceptorList(await interceptorsFor(options), {
    toBrowser: (command) => toBrowser.push(command),
    toClient: (message) => toClient.push(message),
  });
  const create = { method: 'Target.createBrowserContext', params: {} };
  list.command({ id: 1, ...create });
  list.message({ id: 1, result: { browserContextId: 'context' } });
  const targetInfo = { targetId: 'frame', type: 'page', browserContextId: 'context', url: 'about:blank' };
  list.message({ method: 'Target.attachedToTarget', params: { sessionId: 'page', targetInfo } });
  const navigate = { id: 2, sessionId: 'page', method: 'Page.navigate', params: { url: 'http://a.test/' } };
  list.command(navigate);
  expect(toBrowser.at(-1)).toBe(navigate);
  await expect.poll(() => toBrowser.at(-1)).toMatchObject(create);
  const messages = [
    { method: 'Page.frameStartedLoading', params: { frameId: 'frame' }, sessionId: 'page' },
    { id: 2, sessionId: 'page', result: { frameId: 'frame', loaderId: 'loader' } },
    { method: 'Page.loadEventFired', params: { timestamp: 1 }, sessionId: 'page' },
  ];
  for (const message of messages) {
    list.message(message);
    expect(toClient.at(-1)).toBe(message);
  }
  list.end();
});

import type { Browser, CDPSession } from '@playwright/test';
import { expect, test } from '../../support/emulator/fixtures.ts';

/** Tests on stub browsers are worth what the stub has in common with Chromium: the same commands are sent to both. */

type Params = Record<string, unknown>;

const evaluate = (expression: string, more: Params = {}): [string, Params] => [
  'Runtime.evaluate',
  { expression, ...more },
];
const COMMANDS: [method: string, params: Params][] = [
  ...['1 + 1', '"text"', 'true', 'null', 'undefined', '-0', 'NaN', '10n', 'document.title', '[1, 2]', '({ a: 1 })'].map(
    (expression) => evaluate(expression),
  ),
  ...['[1, { a: null }]', '({ b: [true] })', 'undefined', 'Infinity'].map((text) =>
    evaluate(text, { returnByValue: true }),
  ),
  ...['new Error("boom")', 'throw new TypeError("boom")', 'throw "text"', 'no.such', 'Promise.resolve(3)'].map((text) =>
    evaluate(text),
  ),
  evaluate('Promise.resolve(3)', { awaitPromise: true }),
  evaluate('Promise.reject(new Error("late"))', { awaitPromise: true }),
  evaluate('1', { contextId: 987_654 }),
  ['Page.getFrameTree', {}],
  ['Page.addScriptToEvaluateOnNewDocument', { source: '1' }],
  ['Page.enable', {}],
  ['Runtime.enable', {}],
  ['Target.getTargetInfo', {}],
  ['Emulation.setFocusEmulationEnabled', { enabled: true }],
  ['No.suchCommand', {}],
  ['Page.noSuchCommand', {}],
];

/** Differs from browser to browser: only its type counts. */
const VARIES = /(Id|^id|identifier|number|timestamp|version)$/i;
/** The stub says more. */
const UNKNOWN = /'\S+' wasn't found/;

/** A pattern for the response of Chromium, which may have more fields. */
function pattern(value: unknown, key = ''): unknown {
  if (VARIES.test(key)) return expect.any((value as Params).constructor);
  if (typeof value === 'string') return expect.stringContaining(value.split('\n')[0] ?? '');
  if (Array.isArray(value)) return value.map((each) => pattern(each));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([name, field]) => [name, pattern(field, name)]));
}

async function responseOf(session: CDPSession, [method, params]: [string, Params]): Promise<unknown> {
  try {
    return await session.send(method as 'Runtime.evaluate', params as never);
  } catch (error) {
    const [line = ''] = (error as Error).message.split('\n');
    return { error: UNKNOWN.exec(line)?.[0] ?? line };
  }
}

/** Names of the events of one navigation, in their order. */
async function eventsOf(browser: Browser): Promise<string[]> {
  const page = await browser.newPage();
  const session = await page.context().newCDPSession(page);
  const events: string[] = [];
  for (const name of ['frameNavigated', 'domContentEventFired', 'loadEventFired'] as const) {
    session.on(`Page.${name}`, () => events.push(name));
  }
  session.on('Page.lifecycleEvent', ({ name }) => {
    if (['init', 'DOMContentLoaded', 'load', 'networkIdle'].includes(name)) events.push(`lifecycle ${name}`);
  });
  await session.send('Page.enable');
  await session.send('Page.setLifecycleEventsEnabled', { enabled: true });
  await expect.poll(() => events.at(-1)).toBe('lifecycle networkIdle');
  events.length = 0;
  await session.send('Page.navigate', { url: 'data:text/html,<title>there</title>' });
  await expect.poll(() => events.at(-1)).toBe('lifecycle networkIdle');
  return events;
}

test('a stub responds to the commands of its clients as Chromium does', async ({ start, connect }) => {
  const both = [await start({ browser: 'stub' }), await start()];
  const sessions: CDPSession[] = [];
  for (const { api } of both) {
    const browser = await connect((await api.create()).body.cdpUrl);
    const page = await browser.newPage();
    await page.goto('data:text/html,<title>here</title>');
    sessions.push(await page.context().newCDPSession(page));
  }
  const [stub, chromium] = sessions as [CDPSession, CDPSession];
  for (const command of COMMANDS) {
    const expected = await responseOf(chromium, command);
    expect.soft(expected, JSON.stringify(command)).toMatchObject(pattern(await responseOf(stub, command)) as Params);
  }
});

test('a stub sends the events of a navigation in the order of Chromium', async ({ start, connect }) => {
  const eventsBy = async (browser?: 'stub') =>
    await eventsOf(await connect((await (await start(browser && { browser })).api.create()).body.cdpUrl));
  expect(await eventsBy('stub')).toEqual(await eventsBy());
});

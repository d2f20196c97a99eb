import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base, expect } from '@playwright/test';
import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../../../src/cdp/message.ts';
import { Meter } from '../../../src/cdp/metering/meter.ts';
import { InterceptorList } from '../../../src/cdp/transport/interceptor-list.ts';
import { interceptors } from '../../support/unit/cdp/interceptors.ts';
import {
  type Entry,
  type Names,
  parseRecording,
  played,
  written,
} from '../../support/unit/cdp/recordings/recording.ts';
import { SCENARIOS, writeUpload } from '../../support/unit/cdp/recordings/scenarios.ts';
import { Site } from '../../support/unit/cdp/recordings/site.ts';

/**
 * Each interceptor alone, in an exchange of a real Playwright with a real browser. Both are replayed from a recording,
 * in its order; the interceptor's output must be the recorded one, message by message.
 */

const test = base.extend<{ names: Names }>({
  names: async ({}, use) => {
    const site = new Site();
    const directory = await mkdtemp(join(tmpdir(), 'poolwright-played-'));
    await writeUpload(directory);
    await use({ site: await site.listen(), directory });
    await site.close();
    await rm(directory, { recursive: true });
  },
});

async function recordingOf(name: string): Promise<Entry[]> {
  return parseRecording(
    await readFile(new URL(`../../support/unit/cdp/recordings/${name}.jsonl`, import.meta.url), 'utf8'),
  );
}

/** Time limit for a recorded message, in ms. */
const OUTPUT_MS = 10_000;

type Output = Extract<Entry, ['to browser' | 'to client', unknown]>;

/** Replays a recording. Resolves with the output up to the first difference. */
async function play(name: string, entries: Entry[], names: Names, meter = new Meter()) {
  const create = interceptors(names.site, meter)[name];
  if (!create) throw new Error(`there is no interceptor ${name}`);
  const [came, recorded]: [Output[], Output[]] = [[], []];
  let last: CdpMessage | undefined;
  const output = (where: Output[0]) => (message: CdpMessage) => {
    came.push([where, message === last ? null : written(message, names)]);
    const { worldName } = fieldsOf<Protocol.Page.CreateIsolatedWorldRequest>(message.params);
    if (message !== last && typeof worldName === 'string') names.world = worldName;
  };
  const list = new InterceptorList([create], { toBrowser: output('to browser'), toClient: output('to client') });
  for (const entry of entries) {
    const [where, what] = entry;
    if (where === 'site sent') continue;
    if (where === 'to browser' || where === 'to client') {
      recorded.push(entry as Output);
      // Interceptors that use files or make requests take time.
      const late = Date.now() + OUTPUT_MS;
      while (came.length < recorded.length && Date.now() < late) await new Promise((resolve) => setImmediate(resolve));
      continue;
    }
    last = played(what as CdpMessage, names);
    if (where === 'client') list.command(last);
    else list.message(last);
  }
  list.end();
  return { came, recorded };
}

for (const name of Object.keys(SCENARIOS)) {
  test(`${name}: a recorded exchange`, async ({ names }) => {
    const { came, recorded } = await play(name, await recordingOf(name), names);
    expect(came).toEqual(recorded);
  });
}

test('hidden targets: hides the existing page, and shows the popup', async () => {
  const entries = await recordingOf('hidden-targets');
  expect(pagesOf(entries, 'browser')).toBe(3);
  expect(pagesOf(entries, 'to client')).toBe(2);
});

test('back/forward cache: reports a page from the cache as loaded', async () => {
  const told = messagesOf(await recordingOf('back-forward-cache'), 'to client');
  const at = told.findIndex(({ params }) => (params as { type?: string })?.type === 'BackForwardCacheRestore');
  const [restored, ...behind] = told.slice(at, at + 3);
  expect(restored?.method).toBe('Page.frameNavigated');
  expect(behind.map(({ method, params }) => [method, (params as { name: string }).name])).toEqual([
    ['Page.lifecycleEvent', 'DOMContentLoaded'],
    ['Page.lifecycleEvent', 'load'],
  ]);
});

test('downloads: reports a download as complete when it is stored locally', async ({ names }) => {
  await play('downloads', await recordingOf('downloads'), names);
  const [guid] = messagesOf(await recordingOf('downloads'), 'to client').flatMap(({ method, params }) => {
    const { guid, state } = (params ?? {}) as { guid?: string; state?: string };
    return method === 'Browser.downloadProgress' && state === 'completed' ? [guid] : [];
  });
  expect(await readFile(join(names.directory, String(guid)), 'utf8')).toBe('x'.repeat(60));
});

test('persistent context: creates neither of the two contexts in the browser, and closes both', async () => {
  const entries = await recordingOf('persistent-context');
  expect(methodsOf(entries, 'client').filter((method) => method === 'Target.createBrowserContext').length).toBe(2);
  expect(methodsOf(entries, 'to browser')).not.toContain('Target.createBrowserContext');
  expect(methodsOf(entries, 'to browser')).not.toContain('Target.disposeBrowserContext');
  expect(methodsOf(entries, 'to browser')).toContain('Storage.clearCookies');
});

test('metering: counts as many bytes as the site has sent', async ({ names }) => {
  const entries = await recordingOf('metering');
  const meter = new Meter();
  await play('metering', entries, names, meter);
  const sent = entries.find(([where]) => where === 'site sent')?.[1] as number;
  expect(sent).toBeGreaterThan(100_000);
  expect(Math.abs(meter.total() / sent - 1)).toBeLessThan(0.02);
});

/** Recordings omit the output for messages that pass unchanged: it is the last input. */
function withPassed(entries: Entry[]): Entry[] {
  let last: CdpMessage | null = null;
  return entries.map((entry) => {
    const [where, what] = entry;
    if (where === 'client' || where === 'browser') last = what;
    return what === null ? ([where, last] as Entry) : entry;
  });
}

function messagesOf(entries: Entry[], at: Entry[0]): CdpMessage[] {
  return withPassed(entries).flatMap(([where, what]) => (where === at ? [what as CdpMessage] : []));
}

function methodsOf(entries: Entry[], at: Entry[0]): (string | undefined)[] {
  return messagesOf(entries, at).map(({ method }) => method);
}

function pagesOf(entries: Entry[], at: Entry[0]): number {
  const attached = messagesOf(entries, at).filter(({ method }) => method === 'Target.attachedToTarget');
  const types = attached.map(({ params }) => (params as { targetInfo: { type: string } }).targetInfo.type);
  return types.filter((type) => type === 'page').length;
}

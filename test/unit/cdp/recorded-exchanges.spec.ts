import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import type { CdpMessage } from '../../../src/cdp/message.ts';
import { interceptors } from '../../support/unit/cdp/interceptors.ts';
import { play, recordingOf, test } from '../../support/unit/cdp/recordings/play.ts';
import type { Entry } from '../../support/unit/cdp/recordings/recording.ts';
import { SCENARIOS } from '../../support/unit/cdp/recordings/scenarios.ts';

/**
 * Each interceptor alone, in an exchange of a real Playwright with a real browser. Both are replayed from a recording,
 * in its order; the interceptor's output must be the recorded one, message by message.
 */

for (const name of Object.keys(SCENARIOS).filter((scenario) => scenario in interceptors())) {
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

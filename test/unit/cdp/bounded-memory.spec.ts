import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@playwright/test';
import { fullLength } from '../../support/property-runs.ts';
import { FakeBrowser } from '../../support/unit/cdp/fake-browser.ts';
import { interceptors } from '../../support/unit/cdp/interceptors.ts';

/**
 * No interceptor keeps anything of a closed page: not its session, its requests or its scripts. Every name in these
 * histories is so long that keeping one per page would show in the heap.
 */

const PAGES = fullLength(200, 100);
const NAME_BYTES = fullLength(50_000, 20_000);
/** The most bytes that may be left: less than one name per page, more than the engine's own memory varies. */
const MOST_LEFT = 1_000_000;

/** The default context of a {@link FakeBrowser}. */
const OWN_CONTEXT = 'own';
/** Playwright's first commands: it creates a context, and sends a first command about it. */
const OPENING = [
  { id: -1, method: 'Target.createBrowserContext', params: {} },
  { id: -2, method: 'Browser.setDownloadBehavior', params: { browserContextId: OWN_CONTEXT } },
];

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

function heapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

/** A page that opens, loads, has a paused request and a download, and closes in the middle of everything. */
async function livePage(browser: FakeBrowser, number: number, isOwn: boolean): Promise<void> {
  // Not concatenated: concatenated strings share their parts in memory.
  const name = (what: string) => Buffer.from(`${what} ${number} `.padEnd(NAME_BYTES, '.')).toString('latin1');
  const [sessionId, targetId, contextId] = [name('session'), name('target'), isOwn ? OWN_CONTEXT : name('context')];
  const targetInfo = { targetId, type: 'page', browserContextId: contextId };
  browser.says({ method: 'Target.attachedToTarget', params: { sessionId, targetInfo } });
  const says = (method: string, params: object) => browser.says({ method, params, sessionId });
  const url = `http://127.0.0.1:1/${name('path')}`;
  const context = {
    id: 1,
    uniqueId: name('world'),
    origin: 'http://127.0.0.1:1',
    auxData: { isDefault: true, frameId: targetId },
  };
  says('Runtime.executionContextCreated', { context });
  for (const what of ['failed', 'answered', 'unanswered']) {
    const requestId = name(what);
    const request = { url, method: 'GET', headers: { 'x-mine': `é${name('header')}` } };
    says('Network.requestWillBeSent', { requestId, request });
    if (what === 'unanswered') continue;
    const response = { url: `${url}/${what}`, encodedDataLength: 5, connectionId: 1, remoteIPAddress: '127.0.0.1' };
    says('Network.responseReceived', { requestId, type: 'Document', response });
    says('Network.dataReceived', { requestId, encodedDataLength: 5 });
    if (what === 'answered') continue;
    says('Network.requestServedFromCache', { requestId });
    says('Network.loadingFailed', { requestId });
  }
  browser.list.command({ id: 2 * number, sessionId, method: 'Fetch.enable', params: {} });
  const stopped = {
    requestId: name('stopped'),
    networkId: name('network'),
    request: { url, method: 'GET', headers: {} },
  };
  says('Fetch.requestPaused', stopped);
  const guid = name('download');
  browser.says({ method: 'Browser.downloadWillBegin', params: { guid, url } });
  browser.says({ method: 'Browser.downloadProgress', params: { guid, receivedBytes: 5, state: 'canceled' } });
  browser.list.command({
    id: 2 * number + 1,
    sessionId,
    method: 'Fetch.continueRequest',
    params: { requestId: stopped.requestId },
  });
  await browser.settle();
  browser.says({ method: 'Target.detachedFromTarget', params: { sessionId, targetId } });
  browser.says({ method: 'Target.targetDestroyed', params: { targetId } });
}

for (const [name, create] of Object.entries(interceptors())) {
  test(`${name}: keeps nothing of closed pages`, async () => {
    const browser = new FakeBrowser(create);
    const live = async (from: number, to: number) => {
      for (let number = from; number < to; number += 1) {
        await livePage(browser, number, name === 'persistent-context');
        await browser.settle();
        browser.toBrowser.length = 0;
        browser.toClient.length = 0;
      }
    };
    for (const command of OPENING) {
      browser.list.command(command);
      await browser.settle();
    }
    await live(0, 5);
    const before = heapBytes();
    await live(5, PAGES);
    await browser.settle();
    // Some memory needs more than one collection.
    await expect.poll(() => (heapBytes() - before) / MOST_LEFT, { timeout: 5_000 }).toBeLessThan(1);
    browser.list.end();
  });
}

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@playwright/test';
import { FakeBrowser } from '../../support/unit/cdp/fake-browser.ts';
import { interceptors } from '../../support/unit/cdp/interceptors.ts';

/**
 * No interceptor keeps anything of a page that is gone: not its session, not its requests, not its scripts. Every name
 * in these histories is so long that one kept for each page would be seen in the heap.
 */

const PAGES = 200;
const NAME_BYTES = 50_000;
/** Bound on what is left, in bytes: a tenth of what one name for each page would take. */
const MOST_LEFT = (PAGES * NAME_BYTES) / 10;

/** Of the context that a {@link FakeBrowser} has by itself. */
const OWN_CONTEXT = 'own';
/** As Playwright begins: with a context, and a first command about it. */
const OPENING = [
  { id: -1, method: 'Target.createBrowserContext', params: {} },
  { id: -2, method: 'Browser.setDownloadBehavior', params: { browserContextId: OWN_CONTEXT } },
];

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

function heapBytes(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

/** A page that comes, loads, is stopped at and downloads, and goes in the middle of everything. */
async function livePage(browser: FakeBrowser, number: number, isOwn: boolean): Promise<void> {
  // In one piece: what is put together from parts would share them.
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
  test(`${name}: nothing is kept of pages that are gone`, async () => {
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
    expect((heapBytes() - before) / MOST_LEFT).toBeLessThan(1);
    browser.list.end();
  });
}

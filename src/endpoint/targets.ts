import type { Protocol } from 'devtools-protocol';
import { fieldsOf } from '../cdp/message.ts';
import type { BrowserClients } from './browser-clients.ts';

/** A page as Chromium's port lists it. */
export interface ListedTarget {
  id: string;
  type: string;
  title: string;
  url: string;
  webSocketDebuggerUrl?: string;
}

/** The targets of a browser that tools may connect to. @throws PoolwrightError `ABORTED` when the connection closes */
export async function listTargets(browser: BrowserClients): Promise<ListedTarget[]> {
  const { targetInfos } = fieldsOf<Protocol.Target.GetTargetsResponse>(await browser.call('Target.getTargets'));
  const infos = Array.isArray(targetInfos) ? (targetInfos as unknown[]) : [];
  return infos.flatMap((info) => {
    const { targetId, type, title, url } = fieldsOf<Protocol.Target.TargetInfo>(info);
    if (type === 'tab' || type === 'browser') return [];
    return { id: String(targetId), type: String(type), title: String(title), url: String(url) };
  });
}

/** ID of the page that a browser has; opens one if there is none. @throws PoolwrightError `ABORTED` */
export async function firstPage(browser: BrowserClients): Promise<string> {
  const page = (await listTargets(browser)).find(({ type }) => type === 'page');
  return page?.id ?? (await openPage(browser, 'about:blank'));
}

/** Opens a page. Returns its ID. @throws PoolwrightError `ABORTED` */
export async function openPage(browser: BrowserClients, url: string): Promise<string> {
  const created = await browser.call('Target.createTarget', { url });
  return String(fieldsOf<Protocol.Target.CreateTargetResponse>(created).targetId);
}

/**
 * Makes a page show an address, as a browser does that is started with one. Opens a page if there is none. Does not
 * wait until it has loaded.
 * @throws PoolwrightError `ABORTED`
 */
export async function startPage(browser: BrowserClients, url: string): Promise<void> {
  const targetId = await firstPage(browser);
  if (url === 'about:blank') return;
  const attached = await browser.call('Target.attachToTarget', { targetId, flatten: true });
  const sessionId = String(fieldsOf<Protocol.Target.AttachToTargetResponse>(attached).sessionId);
  // An address that does not exist leaves an error page, as in Chromium.
  const navigated = browser.call('Page.navigate', { url }, sessionId).catch(() => undefined);
  // The requests of a page from this machine are proxied in that session, also while no tool is connected.
  if (/^(https?|file):/i.test(url)) return;
  await navigated;
  await browser.call('Target.detachFromTarget', { sessionId });
}

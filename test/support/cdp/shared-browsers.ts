import { startEmulator } from '../../../src/emulator/index.ts';
import { Api } from '../emulator/api.ts';
import { RawLink } from '../emulator/raw-link.ts';
import { allOnFullChromium } from '../local-chromium.ts';

/**
 * Browsers that consecutive tests share, as long as each test leaves its browser in the original state: a launch takes
 * half the time of many tests.
 */
export class SharedBrowsers {
  readonly #kinds = new Map<string, SharedKind>();

  /**
   * Returns a browser with only its first page; call `end` after the test.
   * @param allowLoopback whether it reaches this machine's loopback
   * @param onFullChromium whether it is full Chromium instead of the headless shell
   */
  async take(allowLoopback: boolean, onFullChromium: boolean): Promise<{ cdpUrl: string; end: () => Promise<void> }> {
    const key = `${allowLoopback} ${onFullChromium}`;
    const kind = this.#kinds.get(key) ?? { started: startWithApi(allowLoopback, onFullChromium), idle: null };
    this.#kinds.set(key, kind);
    const { api } = await kind.started;
    const browser = kind.idle ?? (await api.create()).body;
    kind.idle = null;
    const end = async () => {
      if (kind.idle === null && (await becomesAsNew(browser.cdpUrl))) kind.idle = browser;
      else await api.stop(browser.sessionId);
    };
    return { cdpUrl: browser.cdpUrl, end };
  }

  async close(): Promise<void> {
    for (const { started } of this.#kinds.values()) await (await started).emulator.stop();
  }
}

interface SharedKind {
  started: ReturnType<typeof startWithApi>;
  /** One that no test currently uses. */
  idle: { sessionId: string; cdpUrl: string } | null;
}

async function startWithApi(allowLoopback: boolean, onFullChromium: boolean) {
  const emulator = await startEmulator({ allowLoopback, ...(onFullChromium ? await allOnFullChromium() : {}) });
  return { emulator, api: new Api(emulator.baseURL, emulator.apiKey) };
}

/** Timeout for a browser's cleanup after its client disconnects, in ms: it closes that client's contexts. */
const SETTLED_MS = 2_000;

/** Whether the browser soon has a single blank page, no context besides the default one, and no cookies in it. */
async function becomesAsNew(cdpUrl: string): Promise<boolean> {
  const link = await RawLink.open(cdpUrl).catch(() => null);
  if (link === null) return false; // it has ended
  const until = Date.now() + SETTLED_MS;
  let isNew = await isAsNew(link);
  while (!isNew && Date.now() < until) isNew = await isAsNew(link);
  link.close();
  return isNew;
}

async function isAsNew(link: RawLink): Promise<boolean> {
  const { browserContextIds } = await link.send('Target.getBrowserContexts');
  const { targetInfos } = await link.send('Target.getTargets');
  const { cookies } = await link.send('Storage.getCookies');
  // In full Chromium, parts of its window are targets, too.
  const pages = targetInfos.filter(({ url }: { url: string }) => !/^chrome:\/\/[\w-]+\.top-chrome\//.test(url));
  const urls = pages.map(({ url }: { url: string }) => url);
  return browserContextIds.length === 0 && cookies.length === 0 && urls.join() === 'about:blank';
}

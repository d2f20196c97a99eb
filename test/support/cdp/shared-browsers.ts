import { type Emulator, startEmulator } from '../../../src/emulator/index.ts';
import { Api } from '../emulator/api.ts';
import { RawLink } from '../emulator/raw-link.ts';

/**
 * Browsers that consecutive tests share, as long as each test leaves its browser in the original state: a launch takes
 * half the time of many tests.
 */
export class SharedBrowsers {
  readonly #emulators = new Map<boolean, Promise<{ emulator: Emulator; api: Api }>>();
  /** Browsers that no test currently uses. */
  readonly #idle = new Map<string, { sessionId: string; cdpUrl: string }>();

  /**
   * Returns a browser with only its first page; call `end` after the test.
   * @param allowLoopback whether it reaches this machine's loopback
   */
  async take(allowLoopback: boolean): Promise<{ cdpUrl: string; end: () => Promise<void> }> {
    const { api } = await this.#start(allowLoopback);
    const key = String(allowLoopback);
    const browser = this.#idle.get(key) ?? (await api.create()).body;
    this.#idle.delete(key);
    const end = async () => {
      if (!this.#idle.has(key) && (await becomesAsNew(browser.cdpUrl))) this.#idle.set(key, browser);
      else await api.stop(browser.sessionId);
    };
    return { cdpUrl: browser.cdpUrl, end };
  }

  async close(): Promise<void> {
    for (const starting of this.#emulators.values()) await (await starting).emulator.stop();
  }

  #start(allowLoopback: boolean) {
    const starting = this.#emulators.get(allowLoopback) ?? startWithApi(allowLoopback);
    this.#emulators.set(allowLoopback, starting);
    return starting;
  }
}

async function startWithApi(allowLoopback: boolean) {
  const emulator = await startEmulator({ allowLoopback });
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
  const urls = targetInfos.map(({ url }: { url: string }) => url);
  return browserContextIds.length === 0 && cookies.length === 0 && urls.join() === 'about:blank';
}

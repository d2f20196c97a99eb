import type { Browser } from '@playwright/test';

/** How often a browser is asked whether it is there, in ms. */
const INTERVAL_MS = 5_000;
/** How long its answer may take, in ms: a busy one answers late, a dead one never. */
const ANSWER_MS = 15_000;

/** Asks a browser for a sign of life. */
export interface Watchdog {
  /** Whether it answers within `ms`. */
  answers(ms: number): Promise<boolean>;
  stop(): void;
}

/**
 * Watches a connected browser: a stopped process or a cut network closes no link, and every call on such a link waits
 * for ever. Calls `onSilent` once, when it does not answer for 15 s.
 */
export function watch(browser: Browser, onSilent: (seconds: number) => void): Watchdog {
  // One CDP session for all signs of life; on a link that is closing it cannot be had, and is not needed.
  const session = browser.newBrowserCDPSession().catch(() => null);
  const ask = async () => {
    await (await session)?.send('Browser.getVersion');
  };
  let timer: NodeJS.Timeout | null = setTimeout(check, INTERVAL_MS).unref();
  async function check() {
    const there = await within(ask(), ANSWER_MS);
    if (timer === null || !browser.isConnected()) return;
    if (there) timer = setTimeout(check, INTERVAL_MS).unref();
    else onSilent(ANSWER_MS / 1000);
  }
  return {
    answers: (ms) => within(ask(), ms),
    stop: () => {
      if (timer) clearTimeout(timer);
      timer = null;
    },
  };
}

/** Whether it resolves in time. */
async function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}

import type { Browser, CDPSession } from '@playwright/test';

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
  // One CDP session for all signs of life, opened before it is needed.
  let session: Promise<CDPSession> | null = browser.newBrowserCDPSession();
  session.catch(() => undefined); // who asks hears of it
  const askOnce = async (ms: number): Promise<'answered' | 'refused' | 'silent'> => {
    session ??= browser.newBrowserCDPSession();
    const answer = await within(
      session.then((opened) => opened.send('Browser.getVersion')),
      ms,
    );
    // Somebody has ended the session; that says nothing about the browser, and the next question needs another one.
    if (answer === 'refused') session = null;
    return answer;
  };
  const ask = async (ms: number) => {
    const answer = await askOnce(ms);
    return answer === 'refused' && browser.isConnected() ? await askOnce(ms) : answer;
  };
  let timer: NodeJS.Timeout | null = setTimeout(check, INTERVAL_MS).unref();
  async function check() {
    const answer = await ask(ANSWER_MS);
    if (timer === null || !browser.isConnected()) return;
    if (answer === 'silent') onSilent(ANSWER_MS / 1000);
    else timer = setTimeout(check, INTERVAL_MS).unref();
  }
  return {
    answers: async (ms) => (await ask(ms)) === 'answered',
    stop: () => {
      if (timer) clearTimeout(timer);
      timer = null;
    },
  };
}

/** What comes of it in time. */
async function within(promise: Promise<unknown>, ms: number): Promise<'answered' | 'refused' | 'silent'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'silent'>((resolve) => {
    timer = setTimeout(() => resolve('silent'), ms);
  });
  const outcome = promise.then(
    () => 'answered' as const,
    () => 'refused' as const,
  );
  try {
    return await Promise.race([outcome, late]);
  } finally {
    clearTimeout(timer);
  }
}

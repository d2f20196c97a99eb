import type { Browser, CDPSession } from '@playwright/test';
import type { LinkTraffic } from '../../cdp/transport/open-socket.ts';
import { answerOf } from './sign-of-life.ts';

/** How often a browser is asked whether it is there, in ms. */
const INTERVAL_MS = 5_000;
/** How long it may be silent then, in ms: a busy one answers late, a dead one never. */
const SILENCE_MS = 15_000;
/**
 * What the slowest uplink carries, in bytes per ms (half a Mbit/s). A question waits behind whatever was sent before it,
 * which may be an answer of 18 MB for a page; nobody sees how much of that has gone past this machine's own buffers.
 */
const SLOWEST_UPLINK = 62.5;

/** The browser at the other end of a link. */
export interface WatchedLink {
  browser: Browser;
  traffic(): LinkTraffic;
}

/** Asks a browser for a sign of life. */
export interface Watchdog {
  /**
   * Whether it is there. It may be silent for `ms`, and for as long as what was sent to it before takes on a slow
   * uplink.
   */
  answers(ms: number): Promise<boolean>;
  stop(): void;
}

/**
 * Watches a connected browser: a stopped process or a cut network closes no link, and every call on such a link waits
 * for ever. Calls `onSilent` once, when it was asked for a sign of life and nothing came for 15 s.
 */
export function watch({ browser, traffic }: WatchedLink, onSilent: (seconds: number) => void): Watchdog {
  // One CDP session for all signs of life, opened before it is needed.
  let session: Promise<CDPSession> | null = browser.newBrowserCDPSession();
  session.catch(() => undefined); // who asks hears of it
  /** Of the bytes sent, those before the last question that was answered. */
  let arrived = 0;
  const askOnce = async (ms: number): Promise<'answered' | 'refused' | 'silent'> => {
    session ??= browser.newBrowserCDPSession();
    const { sent } = traffic();
    const question = session.then((opened) => opened.send('Browser.getVersion'));
    const answer = await answerOf(question, traffic, ms + Math.max(0, sent - arrived) / SLOWEST_UPLINK);
    if (answer === 'answered') arrived = Math.max(arrived, sent);
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
    const answer = await ask(SILENCE_MS);
    if (timer === null || !browser.isConnected()) return;
    if (answer === 'silent') onSilent(SILENCE_MS / 1000);
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

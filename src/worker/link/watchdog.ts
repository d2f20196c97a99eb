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

/** How a client asks its browser something. */
export interface Questions {
  /** Makes the asking ready; what it resolves with asks one question, as often as it is called. */
  ready(): Promise<() => Promise<unknown>>;
  isConnected(): boolean;
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
export function watch(
  { ready, isConnected }: Questions,
  traffic: () => LinkTraffic,
  onSilent: (seconds: number) => void,
): Watchdog {
  // One way to ask for all signs of life, made before it is needed.
  let asking: Promise<() => Promise<unknown>> | null = ready();
  asking.catch(() => undefined); // who asks hears of it
  /** Of the bytes sent, those before the last question that was answered. */
  let arrived = 0;
  const askOnce = async (ms: number): Promise<'answered' | 'refused' | 'silent'> => {
    asking ??= ready();
    const { sent } = traffic();
    const question = asking.then((put) => put());
    const answer = await answerOf(question, traffic, ms + Math.max(0, sent - arrived) / SLOWEST_UPLINK);
    if (answer === 'answered') arrived = Math.max(arrived, sent);
    // Somebody has ended the session; that says nothing about the browser, and the next question needs another one.
    if (answer === 'refused') asking = null;
    return answer;
  };
  const ask = async (ms: number) => {
    const answer = await askOnce(ms);
    return answer === 'refused' && isConnected() ? await askOnce(ms) : answer;
  };
  let timer: NodeJS.Timeout | null = setTimeout(check, INTERVAL_MS).unref();
  async function check() {
    const answer = await ask(SILENCE_MS);
    if (timer === null || !isConnected()) return;
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

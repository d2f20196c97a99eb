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

/** A link to a browser. */
interface Watched {
  /** Asks the browser something. */
  ask(): Promise<unknown>;
  traffic(): LinkTraffic;
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
export function watch({ ask, traffic, isConnected }: Watched, onSilent: (seconds: number) => void): Watchdog {
  /** Of the bytes sent, those before the last question that was answered. */
  let arrived = 0;
  const question = async (ms: number) => {
    const { sent } = traffic();
    const answer = await answerOf(ask(), traffic, ms + Math.max(0, sent - arrived) / SLOWEST_UPLINK);
    if (answer === 'answered') arrived = Math.max(arrived, sent);
    return answer;
  };
  let timer: NodeJS.Timeout | null = setTimeout(check, INTERVAL_MS).unref();
  async function check() {
    const answer = await question(SILENCE_MS);
    if (timer === null || !isConnected()) return;
    if (answer === 'silent') onSilent(SILENCE_MS / 1000);
    else timer = setTimeout(check, INTERVAL_MS).unref();
  }
  return {
    answers: async (ms) => (await question(ms)) === 'answered',
    stop: () => {
      if (timer) clearTimeout(timer);
      timer = null;
    },
  };
}

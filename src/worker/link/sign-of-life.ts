import type { LinkTraffic } from '../../cdp/transport/open-socket.ts';

/** How often it is looked whether something moves on the link, in ms. */
const TICK_MS = 250;

/**
 * What comes of a question to a browser; `silent` when nothing moves on its link for `silence` ms. Whatever comes from
 * the browser is a sign of life, and so is that what waits here to be sent becomes less. Time in which this process
 * does nothing (a test that runs a command synchronously, a machine that sleeps) does not count: the answer may have
 * come meanwhile and was not looked at.
 */
export async function answerOf(
  question: Promise<unknown>,
  traffic: () => LinkTraffic,
  silence: number,
): Promise<'answered' | 'refused' | 'silent'> {
  let before = traffic();
  let silentMs = 0;
  let ticks: NodeJS.Timeout | undefined;
  const silent = new Promise<'silent'>((resolve) => {
    ticks = setInterval(() => {
      const now = traffic();
      const moves = now.received > before.received || now.queued < before.queued;
      before = now;
      silentMs = moves ? 0 : silentMs + TICK_MS;
      if (silentMs >= silence) resolve('silent');
    }, TICK_MS);
  });
  const outcome = question.then(
    () => 'answered' as const,
    () => 'refused' as const,
  );
  try {
    return await Promise.race([outcome, silent]);
  } finally {
    clearInterval(ticks);
  }
}

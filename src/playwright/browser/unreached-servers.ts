import type { BrowserContext } from '@playwright/test';
import { type NetworkRules, parseNetworkRules } from '../../options/network-rules.ts';

/** How a request ends that no server took: not one that a page, a route or `setOffline` ended. */
const NO_SERVER = /^net::ERR_(CONNECTION|TUNNEL|PROXY|ADDRESS|NAME|EMPTY|SOCKET|SOCKS)_/;

/**
 * Tells the user about requests to servers on this machine that no remote browser reaches by itself: all that the test
 * sees is a refused connection.
 * @param exposed what goes through this machine; null: nothing
 * @param onNote called for each such request
 */
export function noteUnreachedServers(
  context: BrowserContext,
  exposed: NetworkRules | null,
  onNote: (text: string) => void,
): void {
  const loopback = parseNetworkRules('<loopback>');
  context.on('requestfailed', (request) => {
    const url = request.url();
    if (!loopback.matches(url) || exposed?.matches(url) || !NO_SERVER.test(request.failure()?.errorText ?? '')) return;
    const { origin } = new URL(url);
    onNote(
      `${origin} was not reached: a hosted browser reaches servers of this machine only through it. Set \`exposeNetwork: '<loopback>'\` if that is meant.`,
    );
  });
}

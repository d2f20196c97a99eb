import type { BrowserHealth } from '../../../cdp/contexts/browser-health.ts';
import { describeClosed } from '../../../cdp/transport/connection-closed.ts';
import type { CdpTransport } from '../../../cdp/transport/transport.ts';
import { dateNow } from '../../../common/clock.ts';
import { errorMessage } from '../../../common/error-message.ts';
import { within } from '../../../common/pause.ts';
import type { LeasedConnection } from './leased-connection.ts';
import type { Loss } from './loss.ts';
import { watch } from './watchdog.ts';

/** Whether a browser that responds is good for another test. See `BrowserHealth`. */
export type HealthCheck = { fault(): string | null } & Pick<BrowserHealth, 'clean'>;

/** How long cleaning a browser may take in all, in ms. */
const CLEAN_MS = 20_000;

/** A connected client. */
export interface ConnectedClient {
  transport: Pick<CdpTransport, 'ask' | 'close' | 'closed' | 'traffic'>;
  isConnected(): boolean;
  /** Disconnects the client. Does nothing on a closed connection. */
  disconnect(): Promise<void>;
  health: HealthCheck;
  /** Called once when the browser stops responding. */
  onSilent(): void;
}

/** Watches a connection from open to close: whether the browser responds, and how it was lost. */
export function followConnection({
  transport,
  disconnect,
  onSilent,
  isConnected,
  health,
}: ConnectedClient): Pick<LeasedConnection, 'settle' | 'close' | 'lost' | 'markBroken'> {
  let loss: Loss | null = null;
  let isReleased = false;
  const watchdog = watch(
    { ping: () => transport.ask(), traffic: () => transport.traffic(), isConnected },
    (seconds) => {
      loss ??= { at: dateNow(), seen: `it did not respond for ${seconds} s`, how: 'silent' };
      transport.close();
      onSilent();
    },
  );
  void transport.closed.then((why) => {
    watchdog.stop();
    // After a release, closing is not a loss.
    if (!isReleased) loss ??= { at: dateNow(), seen: inSentence(describeClosed(why)), how: 'closed' };
  });
  const markBroken = (seen: string) => {
    loss ??= { at: dateNow(), seen, how: 'broken' };
  };
  const lost = () => {
    const fault = loss || isReleased ? null : health.fault();
    if (fault !== null) markBroken(fault);
    return loss;
  };
  return {
    lost,
    markBroken,
    settle: async (ms) => {
      let fault: string | null = `it was not clean after ${CLEAN_MS / 1000} s`;
      const cleaning = health.clean().then(
        (reason) => {
          fault = reason;
        },
        (error) => {
          fault = errorMessage(error);
        },
      );
      const isResponsive = await watchdog.isResponsive(ms, within(cleaning, CLEAN_MS, undefined));
      return isResponsive ? fault : `it did not respond for ${ms / 1000} s`;
    },
    close: async () => {
      isReleased = true;
      watchdog.stop();
      await disconnect().catch(() => undefined);
    },
  };
}

/** Makes a sentence usable inside another one. */
function inSentence(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`.replace(/\.$/, '');
}

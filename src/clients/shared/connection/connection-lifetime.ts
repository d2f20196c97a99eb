import { describeClosed } from '../../../cdp/transport/connection-closed.ts';
import type { CdpTransport } from '../../../cdp/transport/transport.ts';
import { dateNow } from '../../../common/clock.ts';
import type { LeasedConnection } from './leased-connection.ts';
import type { Loss } from './loss.ts';
import { watch } from './watchdog.ts';

/** A connected client. */
export interface ConnectedClient {
  transport: Pick<CdpTransport, 'ask' | 'close' | 'closed' | 'traffic'>;
  isConnected(): boolean;
  /** Disconnects the client. Does nothing on a closed connection. */
  disconnect(): Promise<void>;
  /** Called once when the browser stops responding. */
  onSilent(): void;
}

/** Watches a connection from open to close: whether the browser responds, and how it was lost. */
export function followConnection({
  transport,
  disconnect,
  onSilent,
  isConnected,
}: ConnectedClient): Pick<LeasedConnection, 'isResponsive' | 'close' | 'lost'> {
  let loss: Loss | null = null;
  let isReleased = false;
  const watchdog = watch(
    { ping: () => transport.ask(), traffic: () => transport.traffic(), isConnected },
    (seconds) => {
      loss ??= { at: dateNow(), seen: `it did not respond for ${seconds} s`, silent: true };
      transport.close();
      onSilent();
    },
  );
  void transport.closed.then((why) => {
    watchdog.stop();
    // After a release, closing is not a loss.
    if (!isReleased) loss ??= { at: dateNow(), seen: inSentence(describeClosed(why)), silent: false };
  });
  return {
    lost: () => loss,
    isResponsive: (ms) => watchdog.isResponsive(ms),
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

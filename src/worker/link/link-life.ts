import { describeClosed } from '../../cdp/transport/link-closed.ts';
import type { CdpTransport } from '../../cdp/transport/transport.ts';
import type { LeaseLink } from './lease-link.ts';
import type { Loss } from './loss.ts';
import { watch } from './watchdog.ts';

/** A connected client. */
export interface LivingLink {
  transport: CdpTransport;
  isConnected(): boolean;
  /** Ends the client's side. On a link that is already down there is nothing to say goodbye to. */
  disconnect(): Promise<void>;
  /** Called once when the browser does not answer any more. */
  onSilent(): void;
}

/** Follows a link from its opening to its end: whether the browser is there, and how it was lost. */
export function followLink({
  transport,
  disconnect,
  onSilent,
  isConnected,
}: LivingLink): Pick<LeaseLink, 'answers' | 'close' | 'lost'> {
  let loss: Loss | null = null;
  let isLetGo = false;
  const watchdog = watch({ ask: () => transport.ask(), traffic: () => transport.traffic(), isConnected }, (seconds) => {
    loss ??= { at: Date.now(), seen: `it did not answer for ${seconds} s`, silent: true };
    transport.close();
    onSilent();
  });
  void transport.closed.then((why) => {
    watchdog.stop();
    // Whatever ends it then, no test has lost it.
    if (!isLetGo) loss ??= { at: Date.now(), seen: inSentence(describeClosed(why)), silent: false };
  });
  return {
    lost: () => loss,
    answers: (ms) => watchdog.answers(ms),
    close: async () => {
      isLetGo = true;
      watchdog.stop();
      await disconnect().catch(() => undefined);
    },
  };
}

/** A sentence as part of another one. */
function inSentence(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`.replace(/\.$/, '');
}

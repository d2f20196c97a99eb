import { errorMessage } from '../../../common/error-message.ts';
import type { BrowserCommands } from '../../transport/interceptor.ts';
import type { PausedRequest } from './paused-request.ts';

/** How often the browser is asked, in ms. */
const ASKED_MS = 1_000;

/**
 * Gives a stopped request up when nobody waits for it anymore: the browser does not report each one that ends with its
 * document. It still knows those that outlive theirs (beacons). It has no body for any of them, but tells the two apart.
 * @returns a function that ends the watch; to be called before the request is answered
 */
export function whenAbandoned(
  commands: BrowserCommands,
  { sessionId, requestId }: PausedRequest,
  giveUp: () => void,
): () => void {
  const timer = setInterval(() => {
    commands.call('Fetch.getResponseBody', { requestId }, sessionId).catch((error) => {
      if (errorMessage(error).includes('Invalid InterceptionId')) giveUp();
    });
  }, ASKED_MS);
  return () => clearInterval(timer);
}

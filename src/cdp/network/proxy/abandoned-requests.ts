import { clearInterval, setInterval } from '../../../common/clock.ts';
import { errorMessage } from '../../../common/error-message.ts';
import type { BrowserCommands } from '../../transport/interceptor.ts';
import type { PausedRequest } from './paused-request.ts';

/** Interval of the checks, in ms. */
const ASKED_MS = 1_000;

/**
 * Gives up a paused request when its page no longer waits for it: the browser does not report every request that ends
 * with its document. It still knows requests that outlive their document (beacons). The browser has no body for either,
 * but its error tells the two apart.
 * @param paused returns the request as it is paused now
 * @returns a function that stops the checks; call it before the browser gets the response
 */
export function whenAbandoned(commands: BrowserCommands, paused: () => PausedRequest, giveUp: () => void): () => void {
  const timer = setInterval(() => {
    const { sessionId, requestId } = paused();
    commands.call('Fetch.getResponseBody', { requestId }, sessionId).catch((error) => {
      if (errorMessage(error).includes('Invalid InterceptionId')) giveUp();
    });
  }, ASKED_MS);
  return () => clearInterval(timer);
}

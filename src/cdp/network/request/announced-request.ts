import { type Clock, systemClock } from '../../../common/clock.ts';
import { PoolwrightError } from '../../../errors.ts';
import type { NetworkRequest } from '../../model/requests.ts';
import { withDescendants } from '../../model/session.ts';
import type { InterceptorTransport } from '../../transport/interceptor.ts';
import type { PausedRequest } from './paused-request.ts';

/** An announcement usually comes within a few ms of the paused request, before or after it. In ms. */
const SOON_MS = 250;
/** How long a page may take to respond, in ms. */
const PAGE_MS = 30_000;

/**
 * The announcement of a paused request (to this address, if given). Null if there is none, as for requests that the
 * browser makes for itself. The page or worker that makes a request announces it before the browser pauses it. So if
 * it is not here soon, we ask them something: it comes before their responses, however large it is. A page that is busy
 * may not respond, but the browser does: by then, it has sent all that the page has announced. A body of many megabytes
 * may take minutes to get here, and the watchdog notices when nothing arrives.
 */
export async function announcedRequest(
  transport: InterceptorTransport,
  { networkId, target }: PausedRequest,
  url?: string,
  clock: Clock = systemClock,
): Promise<NetworkRequest | null> {
  const { requests } = transport.model;
  // A page that has closed announces nothing more.
  if (networkId === undefined || !transport.model.session(target.session.id)) return null;
  const soon = await requests.announced(networkId, url, AbortSignal.timeout(SOON_MS));
  if (soon) return soon;
  const end = new AbortController();
  const endAfter = (asked: Promise<void>[]) => void Promise.all(asked).then(() => end.abort());
  endAfter(withDescendants(target.session).map(({ id }) => responded(transport, end.signal, id)));
  const timer = clock.after(PAGE_MS, () => endAfter([responded(transport, end.signal)]));
  return await requests.announced(networkId, url, end.signal).finally(() => {
    timer.cancel();
    end.abort();
  });
}

/** Resolves as soon as a page or worker (default: the browser) has responded, or will not. */
async function responded(transport: InterceptorTransport, signal: AbortSignal, sessionId?: string): Promise<void> {
  const method = sessionId === undefined ? 'Browser.getVersion' : 'Runtime.getIsolateId';
  const isLate = await transport.call(method, {}, sessionId).then(
    () => false,
    (error: unknown) => error instanceof PoolwrightError && error.code === 'TIMEOUT',
  );
  if (isLate && !signal.aborted) await responded(transport, signal, sessionId);
}

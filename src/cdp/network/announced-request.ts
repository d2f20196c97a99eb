import { clearTimeout, setTimeout } from '../../common/clock.ts';
import type { NetworkRequest } from '../model/requests.ts';
import { withDescendants } from '../model/session.ts';
import type { InterceptorTransport } from '../transport/interceptor.ts';
import type { PausedRequest } from './proxy/paused-request.ts';

/** An announcement usually comes within a few ms of the paused request, before or after it. In ms. */
const SOON_MS = 250;
/** Time limit for an announcement that is under way, in ms: it contains the body, which may have many megabytes. */
const LATE_MS = 30_000;

/**
 * The announcement of a paused request (to this address, if given). Null if there is none, as for requests that the
 * browser makes for itself. The page or worker that makes a request announces it before the browser pauses it. So if
 * it is not here soon, we ask them something: it comes before their responses, however large it is.
 */
export async function announcedRequest(
  transport: InterceptorTransport,
  { networkId, target }: PausedRequest,
  url?: string,
): Promise<NetworkRequest | null> {
  const { requests } = transport.model;
  // A page that has closed announces nothing more.
  if (networkId === undefined || !transport.model.session(target.session.id)) return null;
  const soon = await requests.announced(networkId, url, AbortSignal.timeout(SOON_MS));
  if (soon) return soon;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), LATE_MS);
  const asked = withDescendants(target.session).map(({ id }) => transport.call('Runtime.getIsolateId', {}, id));
  void Promise.allSettled(asked).then(() => late.abort());
  return await requests.announced(networkId, url, late.signal).finally(() => clearTimeout(timer));
}

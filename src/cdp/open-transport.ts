import { type InterceptorOptions, interceptorsFor } from './interceptors.ts';
import { type CdpTransport, type LinkOptions, openLink } from './transport/transport.ts';

/** Options of {@link openTransport}. */
export interface TransportOptions extends LinkOptions, InterceptorOptions {}

/**
 * Opens a link to a browser's `cdpUrl`, for a client to talk through.
 * @throws LeaseError `CONNECT_FAILED`, which holds no more of the `cdpUrl` than its host
 * @throws PoolwrightError `ABORTED` when the signal fires, or the signal's own reason when that is a PoolwrightError
 */
export async function openTransport(cdpUrl: string, options: TransportOptions = {}): Promise<CdpTransport> {
  return await openLink(cdpUrl, options, await interceptorsFor(options));
}

import { type InterceptorOptions, interceptorsFor } from './pipeline.ts';
import { type CdpTransport, type ConnectOptions, connectTransport } from './transport/transport.ts';

/** Options of {@link openTransport}. */
export interface TransportOptions extends ConnectOptions, InterceptorOptions {}

/**
 * Opens a connection to a browser's `cdpUrl` for a client.
 * @throws LeaseError `CONNECT_FAILED`, which contains only the host of `cdpUrl`
 */
export async function openTransport(cdpUrl: string, options: TransportOptions = {}): Promise<CdpTransport> {
  return await connectTransport(cdpUrl, options, await interceptorsFor(options));
}

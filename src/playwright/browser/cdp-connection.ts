import type { Browser, BrowserType } from '@playwright/test';
import type { LeasedBrowser } from '../../broker/rpc/protocol.ts';
import { supportsTransport } from '../../cdp/transport/supports-transport.ts';
import type { CdpTransport } from '../../cdp/transport/transport.ts';
import { type Connected, connectThrough, type TransportUse } from '../../worker/link/link-transport.ts';

/**
 * Connects Playwright with a transport of ours, whatever the Playwright: one that takes no transport is led through it.
 * @throws LeaseError `CONNECT_FAILED`, without the address in message, cause or stack
 */
export async function connectToBrowser(
  chromium: BrowserType,
  lease: LeasedBrowser,
  use: Omit<TransportUse, 'client'>,
): Promise<Connected<Browser>> {
  return await connectThrough(lease, { ...use, client: 'playwright' }, async (transport, timeout) => {
    if (await supportsTransport(chromium)) return await chromium.connectOverCDP(transport, { timeout });
    return await chromium.connectOverCDP(await tunnelTo(transport), { timeout });
  });
}

/** Only an older Playwright needs it, and its library. */
async function tunnelTo(transport: CdpTransport): Promise<string> {
  const { openTunnel } = await import('../../cdp/transport/tunnel.ts');
  return await openTunnel(transport);
}

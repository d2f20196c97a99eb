import type { Browser } from 'puppeteer-core';
import { type Connects, connectPuppeteer } from '../../src/clients/puppeteer/connection.ts';

/** How Puppeteer is connected to a browser. */
export type Way = 'plain' | 'ahead: false' | 'poolwright';

/** Connects Puppeteer to a browser: by its address, or as `leaseBrowser` does with default options. */
export async function connect(puppeteer: Connects, way: Way, cdpUrl: string): Promise<Browser> {
  if (way === 'plain') return await puppeteer.connect({ browserWSEndpoint: cdpUrl, defaultViewport: null });
  const now = new Date().toISOString();
  const lease = {
    sessionId: 'bench',
    leaseId: null,
    poolId: null,
    servedBy: null,
    type: 'hosted' as const,
    hasOwnState: false,
    runsAlready: false,
    reused: false,
    startedAt: now,
    lifetimeMs: 3_600_000,
    expiresAt: now,
    cdpUrl,
  };
  const { browser } = await connectPuppeteer(lease, {
    puppeteer,
    connect: { defaultViewport: null },
    identity: undefined,
    exposeNetwork: 'auto',
    context: 'auto',
    metering: true,
    ahead: way === 'poolwright',
    reuse: 'run',
    onNote: (text) => console.error(text),
    onSilent: () => undefined,
    onUnreachable: () => undefined,
  });
  return browser;
}

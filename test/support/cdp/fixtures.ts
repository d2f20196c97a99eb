import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Browser } from '@playwright/test';
import { chromium } from 'playwright-core';
import type { WebSocket } from 'ws';
import { openTransport, type TransportOptions } from '../../../src/cdp/open-transport.ts';
import type { CdpTransport } from '../../../src/cdp/transport/transport.ts';
import { loadBuilt } from '../artefact.ts';
import { test as base } from '../emulator/fixtures.ts';
import { CdpServer } from './cdp-server.ts';

export interface CdpFixtures {
  /** Starts a server in a browser's place; see {@link CdpServer}. */
  serve: (onLink?: (link: WebSocket, socket: Socket) => void) => Promise<CdpServer>;
  /** The same, with the handshake in the test's hands. */
  serveUpgrade: (upgrade: (request: IncomingMessage, socket: Socket) => void) => Promise<CdpServer>;
  /** Opens a transport that is closed after the test. */
  open: (cdpUrl: string, options?: Partial<TransportOptions>) => Promise<CdpTransport>;
  /** Address of a fresh emulated browser that reaches this machine's loopback. */
  cdpUrl: string;
  /** Playwright on a transport to the browser of `cdpUrl`. */
  connectThrough: (options?: Partial<TransportOptions>) => Promise<{ browser: Browser; transport: CdpTransport }>;
}

export const test = base.extend<CdpFixtures>({
  serve: async ({}, use) => {
    const servers: CdpServer[] = [];
    await use(async (onLink) => {
      const server = await CdpServer.start(onLink);
      servers.push(server);
      return server;
    });
    for (const server of servers) await server.close();
  },

  serveUpgrade: async ({}, use) => {
    const servers: CdpServer[] = [];
    await use(async (upgrade) => {
      const server = await CdpServer.withUpgrade(upgrade);
      servers.push(server);
      return server;
    });
    for (const server of servers) await server.close();
  },

  open: async ({ artefact }, use) => {
    const transports: CdpTransport[] = [];
    const built =
      artefact === 'sources'
        ? null
        : await loadBuilt<{ openTransport: typeof openTransport }>('open-transport', artefact);
    await use(async (cdpUrl, options) => {
      const transport = await (built?.openTransport ?? openTransport)(cdpUrl, options);
      transports.push(transport);
      return transport;
    });
    for (const transport of transports) transport.close();
    await Promise.all(transports.map(({ closed }) => closed));
  },

  cdpUrl: async ({ start }, use) => {
    const { api } = await start({ allowLoopback: true });
    await use((await api.create()).body.cdpUrl);
  },

  connectThrough: async ({ cdpUrl, open }, use) => {
    await use(async (options) => {
      const transport = await open(cdpUrl, options);
      return { browser: await chromium.connectOverCDP(transport), transport };
    });
  },
});

export { expect } from '@playwright/test';

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { hostname } from 'node:os';
import { type Browser, chromium } from '@playwright/test';
import type { WebSocket } from 'ws';
import { openTransport, type TransportOptions } from '../../../src/cdp/pipeline.ts';
import type { CdpTransport } from '../../../src/cdp/transport/transport.ts';
import { loadBuilt } from '../artefact.ts';
import { test as base } from '../emulator/fixtures.ts';
import { localChromium } from '../local-chromium.ts';
import { CdpServer } from './cdp-server.ts';
import { type FarChromium, startFarChromium } from './far-chromium.ts';
import { SharedBrowsers } from './shared-browsers.ts';

export interface CdpFixtures {
  /** Starts a server in place of a browser; see {@link CdpServer}. */
  serve: (onLink?: (link: WebSocket, socket: Socket) => void) => Promise<CdpServer>;
  /** The same, but the test handles the handshake. */
  serveUpgrade: (upgrade: (request: IncomingMessage, socket: Socket) => void) => Promise<CdpServer>;
  /** Opens a transport and closes it after the test. */
  open: (cdpUrl: string, options?: Partial<TransportOptions>) => Promise<CdpTransport>;
  /**
   * An option: whether the browser of `cdpUrl` is a fresh one. Otherwise another test may have used it and left nothing
   * in it.
   */
  ownBrowser: boolean;
  /** Returns the address of a browser that can, or cannot, reach this machine's loopback. */
  browserUrl: (allowLoopback: boolean) => Promise<string>;
  /** Address of an emulated browser that reaches this machine's loopback. */
  cdpUrl: string;
  /** Connects Playwright through a transport to the browser of `cdpUrl`. */
  connectThrough: (options?: Partial<TransportOptions>) => Promise<{ browser: Browser; transport: CdpTransport }>;
}

/** A host of this machine that `farChromium` does not reach. */
export const LISTED = 'app.listed.localhost';

/** They are all here: a worker is reused for files whose fixtures of this kind are the same. */
interface WorkerFixtures {
  sharedBrowsers: SharedBrowsers;
  /** A browser that Playwright has launched: how a local one behaves. */
  near: Browser;
  /** Reaches this machine's loopback, except {@link LISTED}. */
  farChromium: FarChromium;
  /** Does not reach this machine's loopback; to it, hosts of `example` are this machine. */
  autoChromium: FarChromium;
}

export const test = base.extend<CdpFixtures, WorkerFixtures>({
  near: [
    async ({}, use) => {
      const browser = await chromium.launch({ executablePath: await localChromium(), args: ['--no-sandbox'] });
      await use(browser);
      await browser.close();
    },
    { scope: 'worker' },
  ],

  farChromium: [
    async ({}, use) => {
      const browser = await startFarChromium([LISTED]);
      await use(browser);
      await browser.close();
    },
    { scope: 'worker' },
  ],

  autoChromium: [
    async ({}, use) => {
      const browser = await startFarChromium(['localhost', '127.*', '*.localhost', hostname()], ['*.example']);
      await use(browser);
      await browser.close();
    },
    { scope: 'worker' },
  ],

  ownBrowser: [false, { option: true }],

  sharedBrowsers: [
    async ({}, use) => {
      const browsers = new SharedBrowsers();
      await use(browsers);
      await browsers.close();
    },
    { scope: 'worker' },
  ],

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
      artefact === 'sources' ? null : await loadBuilt<{ openTransport: typeof openTransport }>('pipeline', artefact);
    await use(async (cdpUrl, options) => {
      const transport = await (built?.openTransport ?? openTransport)(cdpUrl, options);
      transports.push(transport);
      return transport;
    });
    for (const transport of transports) transport.close();
    await Promise.all(transports.map(({ closed }) => closed));
  },

  browserUrl: async ({ start, sharedBrowsers, artefact, onFullChromium, ownBrowser }, use) => {
    const taken: { end: () => Promise<void> }[] = [];
    await use(async (allowLoopback) => {
      if (ownBrowser || artefact !== 'sources') {
        const { api } = await start({ allowLoopback });
        return (await api.create()).body.cdpUrl;
      }
      const browser = await sharedBrowsers.take(allowLoopback, onFullChromium);
      taken.push(browser);
      return browser.cdpUrl;
    });
    for (const browser of taken) await browser.end();
  },

  cdpUrl: async ({ browserUrl }, use) => use(await browserUrl(true)),

  connectThrough: async ({ cdpUrl, open }, use) => {
    await use(async (options) => {
      const transport = await open(cdpUrl, options);
      return { browser: await chromium.connectOverCDP(transport), transport };
    });
  },
});

export { expect } from '@playwright/test';

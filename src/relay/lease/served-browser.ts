import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import type { BrowserType } from '@playwright/test';
import { WebSocket } from 'ws';

/** Time limit for Playwright to start its server, in ms. */
const START_TIMEOUT_MS = 20_000;
/** Largest message, in bytes: Playwright's own limit. */
export const MAX_MESSAGE = 256 * 1024 * 1024;

/** A Playwright of one version, loaded from its directory. */
export interface LoadedPlaywright {
  chromium: BrowserType;
}

/** Loads a Playwright. It takes a while, so that it is done while a lease waits for its worker. */
export function loadPlaywright(directory: string): LoadedPlaywright {
  return createRequire(import.meta.url)(directory);
}

/**
 * Lets Playwright serve a browser, and connects to its server.
 * @param executable stands in for the browser
 * @param proxy where Playwright's own requests go; the browser does not get it
 * @param userAgent the worker's, which Playwright compares with its own version
 */
export async function serveBrowser(
  { chromium }: LoadedPlaywright,
  { executable, proxy }: { executable: string; proxy: string },
  userAgent: string,
): Promise<WebSocket> {
  // Options of the client are not used: it would choose what runs on this machine.
  const server = await chromium.launchServer({
    executablePath: executable,
    proxy: { server: proxy },
    host: '127.0.0.1',
    wsPath: `/${randomUUID()}`,
    timeout: START_TIMEOUT_MS,
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
  const socket = new WebSocket(server.wsEndpoint(), {
    headers: { 'user-agent': userAgent },
    handshakeTimeout: START_TIMEOUT_MS,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE,
  });
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  return socket;
}

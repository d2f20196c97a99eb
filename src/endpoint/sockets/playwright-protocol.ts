import { once } from 'node:events';
import type { Browser } from '@playwright/test';
import { WebSocket } from 'ws';
import { loadPlaywright } from '../../clients/playwright/load-playwright.ts';
import { errorMessage } from '../../common/error-message.ts';
import { OptionsError } from '../../errors.ts';
import { boundedSend, closeIfSilent, closeSocket, INTERNAL_ERROR, NORMAL, WHOLE_MESSAGES } from './web-socket.ts';

/** The server runs in this process. */
const HANDSHAKE_TIMEOUT_MS = 30_000;

/** Who connects, and to which browser. */
interface PlaywrightTool {
  userAgent: string;
  /** Where a connection leases the browser. */
  address: string;
  /** Ends that lease. */
  giveBack(): unknown;
  /** How long it may take to send its first message. Until then, no browser is leased for it. */
  firstMessageMs: number;
}

/**
 * Serves a tool that speaks Playwright's own protocol (`connect()` in all its languages): the installed Playwright,
 * whose version must be that of the tool, connects to a browser and serves it.
 */
export async function servePlaywright(
  tool: WebSocket,
  { userAgent, address, giveBack, firstMessageMs }: PlaywrightTool,
): Promise<void> {
  tool.on('error', () => undefined);
  const early: string[] = [];
  let send: (text: string) => void = (text) => early.push(text);
  tool.on('message', (data) => send(String(data)));
  // Not `once()` of Node, which rejects when a socket fails before it closes.
  const left = new Promise<void>((resolve) => tool.once('close', () => resolve()));
  const spoke = new Promise<void>((resolve) => tool.once('message', () => resolve()));
  closeIfSilent(tool, firstMessageMs);
  await Promise.race([spoke, left]);
  // Also while the browser is still waited for.
  void left.then(giveBack);
  let browser: Browser | null = null;
  try {
    const { chromium, version } = await loadPlaywright();
    assertSame(userAgent, version);
    if (tool.readyState !== tool.OPEN) return;
    // The lease has a time limit.
    browser = await chromium.connectOverCDP(address, { timeout: 0 });
    browser.on('disconnected', () => closeSocket(tool, NORMAL, 'The lease of the browser has ended.'));
    send = await connectTo(await serverOf(browser), tool);
    early.forEach(send);
    await left;
  } catch (error) {
    closeSocket(tool, INTERNAL_ERROR, errorMessage(error));
  } finally {
    await browser?.unbind?.().catch(() => undefined);
    await browser?.close().catch(() => undefined);
  }
}

/** The protocol is that of one minor version. @throws OptionsError for a tool of another one */
function assertSame(userAgent: string, version: string): void {
  const [, tool] = /^Playwright\/(\d+\.\d+)\./.exec(userAgent) ?? [];
  if (tool === undefined || version.startsWith(`${tool}.`)) return;
  throw new OptionsError(
    'playwright',
    `connect(): the tool has Playwright ${tool}, and ${version} is beside poolwright. Install the same version.`,
  );
}

/** @throws OptionsError when the installed Playwright cannot serve a browser */
async function serverOf(browser: Browser): Promise<string> {
  if (typeof browser.bind !== 'function')
    throw new OptionsError('playwright', 'connect() needs Playwright 1.59 or newer beside poolwright.');
  return (await browser.bind('poolwright', { host: '127.0.0.1', port: 0 })).endpoint;
}

/** Passes on what the server sends. Returns a function that sends to it. */
async function connectTo(address: string, tool: WebSocket): Promise<(text: string) => void> {
  const server = new WebSocket(address, { ...WHOLE_MESSAGES, handshakeTimeout: HANDSHAKE_TIMEOUT_MS });
  server.on('close', (_code, reason) => closeSocket(tool, NORMAL, String(reason)));
  tool.on('close', () => server.close());
  await once(server, 'open');
  server.on('error', () => undefined);
  const sendToTool = boundedSend(tool, server);
  server.on('message', (data) => sendToTool(String(data)));
  return boundedSend(server, tool);
}

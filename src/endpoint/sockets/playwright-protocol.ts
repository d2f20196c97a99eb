import { once } from 'node:events';
import type { Browser } from '@playwright/test';
import { WebSocket } from 'ws';
import { loadChromium } from '../../clients/playwright/load-chromium.ts';
import { errorMessage } from '../../common/error-message.ts';
import { OptionsError } from '../../errors.ts';
import { boundedSend } from './bounded-send.ts';
import { closeSocket, INTERNAL_ERROR, NORMAL } from './close-socket.ts';

/**
 * Serves a tool that speaks Playwright's own protocol (`connect()` in all its languages): the installed Playwright,
 * whose version must be that of the tool, connects to a browser and serves it.
 * @param address where a connection leases a browser
 */
export async function servePlaywright(tool: WebSocket, address: string): Promise<void> {
  tool.pause();
  tool.on('error', () => undefined);
  const left = once(tool, 'close');
  let browser: Browser | null = null;
  try {
    const chromium = await loadChromium('');
    // The lease has a time limit.
    browser = await chromium.connectOverCDP(address, { timeout: 0 });
    browser.on('disconnected', () => closeSocket(tool, NORMAL, 'The lease of the browser has ended.'));
    await connectTo(await serverOf(browser), tool);
    await left;
  } catch (error) {
    closeSocket(tool, INTERNAL_ERROR, errorMessage(error));
  } finally {
    await browser?.unbind?.().catch(() => undefined);
    await browser?.close().catch(() => undefined);
  }
}

/** @throws OptionsError when the installed Playwright cannot serve a browser */
async function serverOf(browser: Browser): Promise<string> {
  if (typeof browser.bind !== 'function')
    throw new OptionsError('playwright', 'connect() needs Playwright 1.59 or newer beside poolwright.');
  return (await browser.bind('poolwright', { host: '127.0.0.1', port: 0 })).endpoint;
}

async function connectTo(address: string, tool: WebSocket): Promise<void> {
  const server = new WebSocket(address, { perMessageDeflate: false });
  server.on('close', (_code, reason) => closeSocket(tool, NORMAL, String(reason)));
  tool.on('close', () => server.close());
  await once(server, 'open');
  server.on('error', () => undefined);
  const sendToServer = boundedSend(server, tool);
  const sendToTool = boundedSend(tool, server);
  tool.on('message', (data) => sendToServer(String(data)));
  server.on('message', (data) => sendToTool(String(data)));
  tool.resume();
}

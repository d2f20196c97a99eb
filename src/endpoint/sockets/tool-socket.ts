import type { WebSocket } from 'ws';
import { errorMessage } from '../../common/error-message.ts';
import type { BrowserClients, ToolClient, ToolSocket } from '../browser-clients.ts';
import type { ToolLeases } from '../leases.ts';
import { FIRST_PAGE, type SocketRoute } from '../routes.ts';
import { firstPage } from '../targets.ts';
import { closeIfSilent, closeSocket, INTERNAL_ERROR, NORMAL, POLICY_VIOLATION } from './web-socket.ts';

/** Bytes of a tool that may wait here until its browser is ready. The others wait in the tool. */
const MAX_EARLY_BYTES = 1024 * 1024;
/** A tool that reads nothing while this many bytes wait for it is disconnected: this process would hold them. */
const MAX_UNREAD_BYTES = 256 * 1024 * 1024;

/**
 * Serves one WebSocket. The one that leases a browser owns it: the lease ends with that connection. Others under the
 * same ID share the browser.
 * @param firstMessageMs how long it may take to send its first message. Until then, no browser is leased for it
 */
export function serveTool(
  socket: WebSocket,
  { route, userAgent, firstMessageMs }: { route: SocketRoute; userAgent: string; firstMessageMs: number },
  leases: ToolLeases,
): void {
  const { id, kind, hidesPages, open } = route;
  let client: ToolClient | null = null;
  let owns = false;
  const early: string[] = [];
  let earlyBytes = 0;
  const close = (code: number, reason: string) => closeSocket(socket, code, reason);
  const tool: ToolSocket = {
    receive: (text) => {
      if (socket.bufferedAmount > MAX_UNREAD_BYTES) socket.terminate();
      else socket.send(text);
    },
    end: (reason) => close(NORMAL, reason),
  };
  const begin = async () => {
    try {
      owns = leases.find(id) === undefined;
      const lease = leases.find(id) ?? leases.start(id, { hidesPages, open, userAgent });
      const browser = await lease.clients;
      if (socket.readyState !== socket.OPEN) return;
      if (kind !== 'lease') client = await join(browser, tool, route);
      for (const text of early.splice(0)) client?.send(text);
      // It has left meanwhile: no event announces that any more.
      if (socket.readyState !== socket.OPEN) client?.close();
      if (owns) void lease.ended.then(() => close(NORMAL, 'The lease of the browser has ended.'));
    } catch (error) {
      close(INTERNAL_ERROR, errorMessage(error));
    } finally {
      socket.resume();
    }
  };
  const keep = (text: string) => {
    earlyBytes += text.length;
    // Not before: behind unread messages, a paused socket does not notice that the tool has left, and goes on waiting.
    if (earlyBytes > MAX_EARLY_BYTES) socket.pause();
    if (early.push(text) === 1) void begin();
  };
  socket.on('message', (data, isBinary) => {
    if (isBinary) close(POLICY_VIOLATION, 'Messages must be text.');
    else if (client) client.send(String(data));
    else if (kind !== 'lease') keep(String(data));
  });
  socket.on('close', () => {
    client?.close();
    if (owns) void leases.end(id);
  });
  // A failing socket closes, too.
  socket.on('error', () => undefined);
  if (kind === 'lease') void begin();
  else closeIfSilent(socket, firstMessageMs);
}

/** @throws PoolwrightError `ABORTED` when there is no such page */
async function join(browser: BrowserClients, tool: ToolSocket, { kind, targetId }: SocketRoute): Promise<ToolClient> {
  if (kind === 'browser') return await browser.addToBrowser(tool);
  return await browser.addToTarget(tool, targetId === FIRST_PAGE ? await firstPage(browser) : targetId);
}

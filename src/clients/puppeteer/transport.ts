import type { ConnectionTransport } from 'puppeteer-core';
import type { CdpTransport } from '../../cdp/transport/transport.ts';
import { UniqueIds } from './unique-ids.ts';

/** Adapts our transport to Puppeteer's interface, where messages are strings. */
export function asPuppeteerTransport(transport: CdpTransport): ConnectionTransport {
  const ids = new UniqueIds();
  const adapted: ConnectionTransport = {
    send: (text) => {
      const command = JSON.parse(text);
      const renamed = ids.onCommand(command);
      transport.send(renamed, renamed === command ? text : undefined);
    },
    close: () => transport.close(),
  };
  transport.onmessage = (message, text) => {
    const renamed = ids.onMessage(message);
    adapted.onmessage?.(renamed === message && text !== undefined ? text : JSON.stringify(renamed));
  };
  transport.onclose = () => adapted.onclose?.();
  return adapted;
}

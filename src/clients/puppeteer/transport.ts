import type { ConnectionTransport } from 'puppeteer-core';
import type { CdpTransport } from '../../cdp/transport/transport.ts';

/** Adapts our transport to Puppeteer's interface, where messages are strings. */
export function asPuppeteerTransport(transport: CdpTransport): ConnectionTransport {
  const adapted: ConnectionTransport = {
    send: (text) => transport.send(JSON.parse(text)),
    close: () => transport.close(),
  };
  transport.onmessage = (message, text) => adapted.onmessage?.(text ?? JSON.stringify(message));
  transport.onclose = () => adapted.onclose?.();
  return adapted;
}

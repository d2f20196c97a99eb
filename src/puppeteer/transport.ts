import type { ConnectionTransport } from 'puppeteer-core';
import type { CdpTransport } from '../cdp/transport/transport.ts';

/** Our transport as Puppeteer knows one: messages are texts there. */
export function asPuppeteerTransport(transport: CdpTransport): ConnectionTransport {
  const adapted: ConnectionTransport = {
    send: (text) => transport.send(JSON.parse(text)),
    close: () => transport.close(),
  };
  transport.onmessage = (message, text) => adapted.onmessage?.(text ?? JSON.stringify(message));
  transport.onclose = () => adapted.onclose?.();
  return adapted;
}

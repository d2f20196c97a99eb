import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket } from 'ws';

/** The properties that distinguish browsers, as a page sees them. An expression, for any `evaluate`. */
export const FINGERPRINT = `(async () => {
  const { navigator, screen } = window;
  const is = (query) => matchMedia(query).matches;
  const width = (font) => {
    const canvas = document.createElement('canvas').getContext('2d');
    canvas.font = '20px ' + font;
    return canvas.measureText('The quick brown fox, 0123456789').width;
  };
  const hints = ['architecture', 'bitness', 'fullVersionList', 'model', 'platformVersion', 'uaFullVersion', 'wow64'];
  return {
    userAgent: navigator.userAgent,
    appVersion: navigator.appVersion,
    platform: navigator.platform,
    brands: navigator.userAgentData && (await navigator.userAgentData.getHighEntropyValues(hints)),
    webdriver: navigator.webdriver,
    languages: [navigator.language, ...navigator.languages],
    touch: navigator.maxTouchPoints,
    cores: navigator.hardwareConcurrency,
    plugins: navigator.plugins.length,
    screen: [screen.width, screen.height, screen.availWidth, screen.availHeight, screen.colorDepth],
    orientation: screen.orientation.type,
    outer: [outerWidth, outerHeight],
    inner: [innerWidth, innerHeight],
    scale: devicePixelRatio,
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    locale: Intl.DateTimeFormat().resolvedOptions().locale,
    offset: new Date(2026, 0, 1).getTimezoneOffset(),
    media: ['(prefers-color-scheme: dark)', '(prefers-reduced-motion: reduce)', '(forced-colors: active)',
      '(prefers-contrast: more)', '(hover: hover)', '(pointer: coarse)'].map(is),
    fonts: ['serif', 'sans-serif', 'monospace', 'cursive', 'Arial', 'system-ui'].map(width),
    notifications: Notification.permission,
  };
})()`;

export type Fingerprint = Record<string, unknown>;

/** Headers by which a server distinguishes browsers. */
const TELLING = /^(user-agent|accept-language|sec-ch-ua.*)$/;

/** A site that responds to each visit with its page, and remembers the headers that distinguish browsers by path. */
export async function startLookingGlass() {
  const seen = new Map<string, IncomingHttpHeaders>();
  const server = createServer((request, response) => {
    const telling = Object.entries(request.headers).filter(([name]) => TELLING.test(name));
    seen.set(request.url ?? '', Object.fromEntries(telling));
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><link rel=icon href=data:,><title>looking glass</title>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    headersOf: (path: string) => seen.get(path),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Returns the fingerprint of a browser's own first page, without any automation. */
export async function untouched(cdpUrl: string, url: string): Promise<Fingerprint> {
  const socket = new WebSocket(cdpUrl);
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  let lastId = 0;
  const call = (method: string, params: object = {}, sessionId?: string) => {
    const id = ++lastId;
    // biome-ignore lint/suspicious/noExplicitAny: responses have many shapes
    return new Promise<any>((resolve, reject) => {
      const hear = (data: Buffer) => {
        const message = JSON.parse(String(data));
        if (message.id !== id) return;
        socket.off('message', hear);
        if (message.error) reject(new Error(`${method}: ${message.error.message}`));
        else resolve(message.result);
      };
      socket.on('message', hear);
      socket.send(JSON.stringify({ id, method, params, sessionId }));
    });
  };
  try {
    const { targetInfos } = await call('Target.getTargets');
    const { targetId } = targetInfos.find(({ type }: { type: string }) => type === 'page');
    const { sessionId } = await call('Target.attachToTarget', { targetId, flatten: true });
    await call('Page.enable', {}, sessionId);
    const loaded = new Promise<void>((resolve) => {
      socket.on('message', (data) => {
        if (JSON.parse(String(data)).method === 'Page.loadEventFired') resolve();
      });
    });
    await call('Page.navigate', { url }, sessionId);
    await loaded;
    const answer = { expression: FINGERPRINT, awaitPromise: true, returnByValue: true };
    return (await call('Runtime.evaluate', answer, sessionId)).result.value;
  } finally {
    socket.close();
  }
}

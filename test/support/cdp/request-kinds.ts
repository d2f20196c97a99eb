import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from '@playwright/test';

/**
 * How a request is handled: not at all; the test mocks it, continues it with an extra header, or redirects it; or the
 * server redirects it.
 */
export const TREATMENTS = ['plain', 'mocked', 'continued', 'redirected', 'redirected by the test'] as const;
export type Treatment = (typeof TREATMENTS)[number];

/** One kind of request. */
export interface RequestKind {
  /** Content type of the response. */
  type: string;
  body: Buffer;
  /** The server sends its body and keeps the response open. */
  staysOpen?: boolean;
  /** Treatments under which Playwright reports no end for some or all requests. */
  unended?: readonly Treatment[];
  /** The request is over when the server has received it: the page does not wait for it. */
  endsAtServer?: boolean;
  /** It goes to the same server on another port. */
  isElsewhere?: boolean;
  /** Makes a page on the server's empty document send the request, and returns the outcome. */
  send(page: Page, path: string, context: BrowserContext): Promise<unknown>;
}

/** A script for the page: a function of the path that returns a promise of the outcome. */
const inPage =
  (script: string) =>
  async (page: Page, path: string): Promise<unknown> =>
    await page.evaluate(`(${script})(${JSON.stringify(path)})`);

const element = (tag: string, address: string, more = '') =>
  inPage(`(path) => new Promise((resolve) => {
    const element = Object.assign(document.createElement('${tag}'), { ${more} });
    const seen = [];
    for (const type of ['load', 'loadedmetadata', 'error']) element.addEventListener(type, () => resolve(type));
    element.${address} = path;
    document.body.append(element);
  }).then((event) => [event, window.ran, getComputedStyle(document.body).color, document.images[0]?.naturalWidth])`);

/** A worker's script: it fetches something and reports the response. */
const FETCHES = (say: string) =>
  `fetch('/inner', { method: 'POST', body: 'of a worker' }).then((answer) => answer.text()).catch(String).then((text) => ${say})`;

const worker = (create: string) =>
  inPage(`(path) => new Promise((resolve) => {
    const worker = ${create};
    worker.onerror = () => resolve('error');
    (worker.port ?? worker).onmessage = ({ data }) => resolve(data);
  })`);

async function shown(page: Page) {
  return { url: new URL(page.url()).pathname, text: await page.evaluate('document.body.innerText') };
}

const html = (text: string) => Buffer.from(`<!doctype html><link rel=icon href=data:,><body>${text}`);

export const KINDS: Readonly<Record<string, RequestKind>> = {
  document: {
    type: 'text/html',
    body: html('a document'),
    send: async (page, path) => {
      const error = await page.goto(path).then(
        () => null,
        (error: Error) => error.message.split(/ at |\n/)[0],
      );
      return error ?? (await shown(page));
    },
  },
  download: {
    type: 'application/octet-stream',
    unended: TREATMENTS,
    body: Buffer.from('a download'),
    send: async (page, path) => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        inPage(`(href) => Object.assign(document.createElement('a'), { href, download: 'name.bin' }).click()`)(
          page,
          path,
        ),
      ]);
      const failure = await download.failure();
      const body = failure ?? readFileSync(await download.path(), 'utf8');
      return { name: download.suggestedFilename(), url: new URL(download.url()).pathname, body };
    },
  },
  form: {
    type: 'text/html',
    body: html('a form'),
    send: async (page, path) => {
      await page.evaluate(
        `document.body.innerHTML = '<form method=post action="${path}"><input name=field value="ä">'`,
      );
      const left = page.waitForEvent('framenavigated');
      await page.evaluate('document.forms[0].submit()');
      await left;
      await page.waitForLoadState();
      return await shown(page);
    },
  },
  script: { type: 'text/javascript', body: Buffer.from('window.ran = "a script"'), send: element('script', 'src') },
  style: {
    type: 'text/css',
    body: Buffer.from('body { color: rgb(1, 2, 3) }'),
    send: element('link', 'href', `rel: 'stylesheet'`),
  },
  image: {
    type: 'image/svg+xml',
    body: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>'),
    send: element('img', 'src'),
  },
  font: {
    type: 'font/ttf',
    body: aFont(),
    send: inPage(
      `(path) => new FontFace('own', 'url(' + path + ')').load().then(({ status }) => status, ({ name }) => name)`,
    ),
  },
  media: { type: 'audio/wav', body: silence(), send: element('audio', 'src') },
  fetch: {
    type: 'application/json',
    body: Buffer.from('{"a":"fetch"}'),
    send: inPage(`async (path) => {
      const answer = await fetch(path, { method: 'POST', headers: { 'x-own': 'yes' }, body: 'äöü' }).catch(String);
      if (typeof answer === 'string') return answer;
      const { ok, redirected, status, statusText, type, url, headers } = answer;
      return { ok, redirected, status, statusText, type, url, headers: [...headers], text: await answer.text() };
    }`),
  },
  XHR: {
    type: 'text/plain',
    body: Buffer.from('an XHR'),
    send: inPage(`(path) => new Promise((resolve) => {
      const request = new XMLHttpRequest();
      const events = [];
      for (const type of ['readystatechange', 'loadstart', 'progress', 'load', 'error', 'loadend']) {
        request.addEventListener(type, ({ loaded, total }) => {
          events.push([type, request.readyState, loaded, total]);
          if (type === 'loadend') resolve([events, request.status, request.responseText, request.responseURL]);
        });
      }
      request.open('GET', path);
      request.send();
    })`),
  },
  EventSource: {
    type: 'text/event-stream',
    body: Buffer.from('id: 1\ndata: an event\n\n'),
    staysOpen: true,
    send: inPage(`(path) => new Promise((resolve) => {
      const source = new EventSource(path);
      const seen = [];
      source.onopen = () => seen.push(['open', source.readyState]);
      source.onmessage = ({ data, lastEventId, origin }) => {
        seen.push(data, lastEventId, origin, source.url);
        source.close();
        resolve(seen);
      };
      source.onerror = () => {
        seen.push(['error', source.readyState]);
        source.close();
        resolve(seen);
      };
    })`),
  },
  beacon: {
    type: 'text/plain',
    body: Buffer.from(''),
    unended: ['redirected by the test'],
    endsAtServer: true,
    send: inPage(`(path) => navigator.sendBeacon(path, 'a beacon')`),
  },
  WebSocket: {
    type: '',
    body: Buffer.from(''),
    unended: TREATMENTS,
    send: inPage(`(path) => new Promise((resolve) => {
      const socket = new WebSocket(new URL(path, location.href.replace('http', 'ws')), 'own');
      const seen = [];
      socket.onopen = () => { seen.push(['open', socket.protocol]); socket.send('ping'); };
      socket.onmessage = ({ data }) => { seen.push(data); socket.close(3001, 'enough'); };
      socket.onerror = () => seen.push('error');
      socket.onclose = ({ code, reason, wasClean }) => resolve([...seen, code, reason, wasClean]);
    })`),
  },
  worker: {
    type: 'text/javascript',
    body: Buffer.from(FETCHES('postMessage(text)')),
    send: worker('new Worker(path)'),
  },
  'nested worker': {
    type: 'text/javascript',
    body: Buffer.from(FETCHES('postMessage(text)')),
    // In a frame, so that Playwright reports its requests separately.
    send: async (page, path) => {
      const source = `onmessage = ({ data }) => {
        const inner = new Worker(data);
        inner.onmessage = ({ data }) => postMessage(data);
        inner.onerror = () => postMessage('error');
      }`;
      await page.evaluate(`new Promise((resolve) => {
        const frame = Object.assign(document.createElement('iframe'), { src: '/start', onload: resolve });
        document.body.append(frame);
      })`);
      return await page.frames()[1]?.evaluate(`new Promise((resolve) => {
        const worker = new Worker(URL.createObjectURL(new Blob([${JSON.stringify(source)}])));
        worker.onmessage = ({ data }) => resolve(data);
        worker.postMessage(new URL(${JSON.stringify(path)}, location.href).href);
      })`);
    },
  },
  'shared worker': {
    type: 'text/javascript',
    unended: TREATMENTS,
    body: Buffer.from(`onconnect = ({ ports: [port] }) => ${FETCHES('port.postMessage(text)')}`),
    send: worker('new SharedWorker(path)'),
  },
  'service worker': {
    type: 'text/javascript',
    body: Buffer.from(`self.addEventListener('activate', (event) => event.waitUntil(clients.claim()));
      self.addEventListener('fetch', (event) => event.respondWith(fetch('/inner').then(async (answer) => new Response('by it: ' + await answer.text()))))`),
    send: inPage(`async (path) => {
      const controlled = new Promise((resolve) => navigator.serviceWorker.addEventListener('controllerchange', resolve));
      const error = await navigator.serviceWorker.register(path, { scope: '/' }).then(() => null, ({ name }) => name);
      if (error) return error;
      await controlled;
      return await fetch('/through').then((answer) => answer.text(), String);
    }`),
  },
  'fetch from another port': {
    type: 'text/plain',
    isElsewhere: true,
    body: Buffer.from('shared'),
    send: inPage(`(path) => fetch(path, { credentials: 'include' }).then((answer) => answer.text(), String)`),
  },
  'link to another port': {
    type: 'text/html',
    isElsewhere: true,
    body: html('behind a link'),
    send: async (page, path) => {
      const left = page.waitForEvent('framenavigated');
      await page.evaluate(`(${'(href) => Object.assign(document.createElement("a"), { href }).click()'})('${path}')`);
      await left;
      await page.waitForLoadState();
      return await shown(page);
    },
  },
  'popup of another port': {
    type: 'text/html',
    isElsewhere: true,
    body: html('in a popup'),
    send: async (page, path, context) => {
      const [popup] = await Promise.all([context.waitForEvent('page'), page.evaluate(`void open('${path}')`)]);
      await popup.waitForLoadState();
      const result = await shown(popup);
      await popup.close();
      return result;
    },
  },
  'frame of another port': {
    type: 'text/html',
    isElsewhere: true,
    body: html('in a frame'),
    send: async (page, path) => {
      await element('iframe', 'src')(page, path);
      return await page.frames()[1]?.evaluate('document.body.innerText');
    },
  },
  'beacon as its page is left': leaving(`navigator.sendBeacon(path, 'x')`),
  'fetch as its page is left': leaving(`void fetch(path, { method: 'PUT', body: 'x', keepalive: true })`),
  'beacon as its page closes': leaving(`navigator.sendBeacon(path, 'x')`, (page) => page.close()),
  'fetch as its page closes': leaving(`void fetch(path, { method: 'POST', body: 'x', keepalive: true })`, (page) =>
    page.close(),
  ),
  'image as its page closes': leaving(`new Image().src = path`, (page) => page.close()),
  prefetch: {
    type: 'text/javascript',
    body: Buffer.from('window.ran = "a prefetch"'),
    send: element('link', 'href', `rel: 'prefetch'`),
  },
};

/** A request that a page sends while the test leaves or closes it. The browser does not report it. */
function leaving(script: string, leave = (page: Page): Promise<unknown> => page.goto('about:blank')): RequestKind {
  return {
    type: 'text/plain',
    body: Buffer.from(''),
    unended: TREATMENTS,
    endsAtServer: true,
    send: async (page, path) => {
      await page.evaluate(`{ const path = '${path}'; addEventListener('pagehide', () => { ${script} }); }`);
      await leave(page);
    },
  };
}

/** A font that Chromium accepts: one of Playwright's own. */
function aFont(): Buffer {
  const assets = join(import.meta.dirname, '../../../node_modules/playwright-core/lib/vite/recorder/assets');
  const name = readdirSync(assets).find((file) => file.endsWith('.ttf'));
  if (name === undefined) throw new Error(`no font in ${assets}`);
  return readFileSync(join(assets, name));
}

/** A WAV file with a tenth of a second of silence. */
function silence(): Buffer {
  const samples = Buffer.alloc(800, 128);
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + samples.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  for (const [at, value] of [
    [20, 1],
    [22, 1],
    [32, 1],
    [34, 8],
  ] as const)
    head.writeUInt16LE(value, at);
  head.writeUInt32LE(8000, 24);
  head.writeUInt32LE(8000, 28);
  head.write('data', 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}

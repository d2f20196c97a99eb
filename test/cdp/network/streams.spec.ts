import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from '@playwright/test';
import { test as base, expect } from '../../support/cdp/proxy-fixtures.ts';

/** Streamed responses: a page gets each part as soon as the server has sent it. */

/** A server whose responses the test writes. */
class Parts {
  readonly url: string;
  /** For the requests for `/parts`, in order. */
  readonly answers: ServerResponse[] = [];
  readonly headers: Record<string, unknown>[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://localhost:${(server.address() as AddressInfo).port}`;
  }

  static async start(): Promise<Parts> {
    const server = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://any');
      if (pathname === '/to-parts') return response.writeHead(302, { location: '/parts' }).end();
      if (pathname !== '/parts') return response.setHeader('content-type', 'text/html').end('<h1>Page</h1>');
      parts.headers.push(request.headers);
      parts.answers.push(response);
      response.writeHead(200, { 'content-type': searchParams.get('type') ?? 'text/plain; charset=utf-8' });
      return response.flushHeaders();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const parts = new Parts(server);
    return parts;
  }

  /** The response for the next request. */
  async next(at = this.answers.length): Promise<ServerResponse> {
    await expect.poll(() => this.answers.length).toBeGreaterThan(at);
    return this.answers[at] as ServerResponse;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

const test = base.extend<{ parts: Parts; page: Page }>({
  parts: async ({}, use) => {
    const parts = await Parts.start();
    await use(parts);
    await parts.stop();
  },
  page: async ({ proxied, parts }, use) => {
    const page = (await (await proxied()).newPage()) as Page;
    await page.goto(parts.url);
    await page.evaluate('window.got = []');
    await use(page);
  },
});

const seen = (page: Page) => expect.poll(() => page.evaluate('got'));

test('passes each part to a fetch reader, and the end', async ({ page, parts }) => {
  const response = page.waitForResponse('**/parts');
  await page.evaluate(`void (async () => {
    const answer = await fetch('/parts');
    got.push(answer.status);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { value, done } = await reader.read();
      got.push(done ? 'done' : value);
      if (done) break;
    }
  })()`);
  const answer = await parts.next(0);
  await seen(page).toEqual([200]);
  answer.write('eins ü');
  await seen(page).toEqual([200, 'eins ü']);
  let finished = false;
  const finish = (await response).finished().then((error) => {
    finished = true;
    return error;
  });
  const body = (await response).text();
  answer.write('zwei');
  await seen(page).toEqual([200, 'eins ü', 'zwei']);
  expect(finished).toBe(false);
  answer.end('drei');
  await seen(page).toEqual([200, 'eins ü', 'zwei', 'drei', 'done']);
  expect(await finish).toBeNull();
  expect(await body).toBe('eins üzweidrei');
});

test('passes each part to a reader after a redirect, too', async ({ page, parts }) => {
  await page.evaluate(`void (async () => {
    const { body, redirected } = await fetch('/to-parts');
    got.push(redirected);
    for await (const part of body.pipeThrough(new TextDecoderStream())) got.push(part);
    got.push('done');
  })()`);
  const answer = await parts.next(0);
  await seen(page).toEqual([true]);
  answer.write('one');
  await seen(page).toEqual([true, 'one']);
  answer.end('two');
  await seen(page).toEqual([true, 'one', 'two', 'done']);
});

test('handles a fetch that is aborted, cancelled or cut', async ({ page, parts }) => {
  await page.evaluate(`void (async () => {
    window.abort = new AbortController();
    const reader = (await fetch('/parts', { signal: abort.signal })).body.getReader();
    await reader.read();
    got.push('one');
    await reader.read().catch(({ name }) => got.push(name));
  })()`);
  const aborted = await parts.next(0);
  aborted.write('x');
  await seen(page).toEqual(['one']);
  await page.evaluate('abort.abort()');
  await seen(page).toEqual(['one', 'AbortError']);
  await expect.poll(() => aborted.closed).toBe(true);

  await page.evaluate(`void fetch('/parts').then((answer) => { window.answer = answer; got = ['head'] })`);
  const cancelled = await parts.next(1);
  await seen(page).toEqual(['head']);
  await page.evaluate('answer.body.cancel()');
  await expect.poll(() => cancelled.closed).toBe(true);

  await page.evaluate(
    `got = [], void fetch('/parts').then((answer) => answer.text()).catch(({ name }) => got.push(name))`,
  );
  const failed = page.waitForEvent('requestfailed');
  const cut = await parts.next(2);
  cut.write('x');
  await page.evaluate('new Promise((resolve) => setTimeout(resolve, 100))');
  cut.destroy();
  await seen(page).toEqual(['TypeError']);
  expect((await failed).failure()?.errorText).toBe('net::ERR_INCOMPLETE_CHUNKED_ENCODING');

  await page.evaluate(`void fetch('/parts')`);
  const left = await parts.next(3);
  await page.goto('about:blank');
  await expect.poll(() => left.closed).toBe(true);
});

test('supports EventSource: events of every kind, reconnecting with the last ID, closing', async ({ page, parts }) => {
  await page.evaluate(`void (() => {
    window.source = new EventSource('/parts?type=text/event-stream');
    source.onopen = () => got.push('open ' + source.readyState);
    source.onmessage = ({ data, lastEventId, origin }) => got.push([data, lastEventId, origin === location.origin]);
    source.addEventListener('named', ({ data, type }) => got.push([type, data]));
    source.onerror = () => got.push('error ' + source.readyState);
  })()`);
  const answer = await parts.next(0);
  expect(parts.headers[0]).toMatchObject({ accept: 'text/event-stream' });
  await seen(page).toEqual(['open 1']);
  answer.write(': a comment\nretry: 10\nid: 7\ndata: one\ndata:two\n\n');
  await seen(page).toEqual(['open 1', ['one\ntwo', '7', true]]);
  answer.write('event: named\r\nda');
  answer.write('ta: ü\r\n\r\n');
  await seen(page).toEqual(['open 1', ['one\ntwo', '7', true], ['named', 'ü']]);
  answer.end();
  const again = await parts.next(1);
  expect(parts.headers[1]).toMatchObject({ 'last-event-id': '7' });
  await page.evaluate('got = got.slice(3)');
  again.write('data: again\n\n');
  await seen(page).toEqual(['error 0', 'open 1', ['again', '7', true]]);
  await page.evaluate('source.close()');
  await expect.poll(() => again.closed).toBe(true);
  expect(
    await page.evaluate('[source instanceof EventSource, source.readyState, EventSource.CLOSED, EventSource.name]'),
  ).toEqual([true, 2, 2, 'EventSource']);
  await page.evaluate(
    `got = [], void (new EventSource('/parts?type=text/html').onerror = ({ target }) => got.push(target.readyState))`,
  );
  await parts.next(2);
  await seen(page).toEqual([2]);
});

test('reaches network idle with an open EventSource, which Playwright reports as one', async ({ page, parts }) => {
  const request = page.waitForRequest(/parts/);
  await page.goto(`${parts.url}/source`);
  await page.evaluate(`void (window.source = new EventSource('/parts?type=text/event-stream'))`);
  await parts.next(0);
  expect((await request).resourceType()).toBe('eventsource');
  await page.waitForLoadState('networkidle');
});

test('reports the head of a response at once, without waiting for its body', async ({ page, parts }) => {
  const script = `fetch('${parts.url}/parts').then((answer) => answer.text()).then(postMessage)`;
  const asked = {
    'a worker': `void new Worker(URL.createObjectURL(new Blob([${JSON.stringify(script)}])))`,
    'an image': `void (new Image().src = '/parts')`,
    'a stream behind a redirect': `void fetch('/to-parts').then((answer) => answer.text())`,
  };
  for (const [at, [kind, source]] of Object.entries(asked).entries()) {
    const reported = page.waitForResponse('**/parts');
    await page.evaluate(source);
    const answer = await parts.next(at);
    const response = await reported;
    expect([response.status(), (await response.allHeaders())['content-type']], kind).toEqual([
      200,
      'text/plain; charset=utf-8',
    ]);
    const finished = page.waitForEvent('requestfinished');
    answer.end('whole');
    expect((await (await finished).response())?.url(), kind).toBe(response.url());
  }
});

test('supports progress events and abort of XMLHttpRequest', async ({ page, parts }) => {
  await page.evaluate(`void (() => {
    window.request = new XMLHttpRequest();
    for (const type of ['progress', 'load', 'abort', 'loadend']) request['on' + type] = ({ loaded }) => got.push(type + ' ' + loaded);
    request.onreadystatechange = () => got.push([request.readyState, request.readyState > 2 ? request.responseText : '']);
    request.open('GET', '/parts');
    request.send();
  })()`);
  const answer = await parts.next(0);
  await seen(page).toEqual([
    [1, ''],
    [2, ''],
  ]);
  answer.write('ein');
  await seen(page).toEqual([[1, ''], [2, ''], [3, 'ein'], 'progress 3']);
  answer.end('s');
  await seen(page).toEqual([
    [1, ''],
    [2, ''],
    [3, 'ein'],
    'progress 3',
    [3, 'eins'],
    'progress 4',
    [4, 'eins'],
    'load 4',
    'loadend 4',
  ]);
  await page.evaluate(`got = [], request.open('GET', '/parts'), request.send()`);
  const aborted = await parts.next(1);
  aborted.write('x');
  await seen(page).toEqual([[1, ''], [2, ''], [3, 'x'], 'progress 1']);
  await page.evaluate('got = [], request.abort()');
  await expect.poll(() => aborted.closed).toBe(true);
  await seen(page).toEqual([[4, ''], 'abort 0', 'loadend 0']);
});

test('passes complete responses to synchronous requests and to resources other than scripts', async ({
  page,
  parts,
}) => {
  const blocked = page.evaluate(`(() => {
    const request = new XMLHttpRequest();
    request.open('GET', '/parts', false);
    request.send();
    return request.responseText;
  })()`);
  const answer = await parts.next(0);
  answer.write('one');
  const timer = setTimeout(() => answer.end('two'), 300);
  expect(await blocked).toBe('onetwo');
  clearTimeout(timer);
  const fromWorker = page.evaluate(`new Promise((resolve) => {
    const source = "fetch('" + location.origin + "/parts').then((answer) => answer.text()).then(postMessage)";
    new Worker(URL.createObjectURL(new Blob([source]))).onmessage = ({ data }) => resolve(data);
  })`);
  const second = await parts.next(1);
  second.write('one');
  setTimeout(() => second.end('two'), 300);
  expect(await fromWorker).toBe('onetwo');
});

test('slows the server down when a reader does not read', async ({ page, parts }) => {
  test.slow();
  await page.evaluate(
    `void fetch('/parts').then((answer) => { window.reader = answer.body.getReader(); got.push('head') })`,
  );
  const answer = await parts.next(0);
  await seen(page).toEqual(['head']);
  let written = 0;
  const sent = (async () => {
    const piece = Buffer.alloc(1_000_000, 65);
    for (; written < 100; written += 1) if (!answer.write(piece)) await once(answer, 'drain');
    answer.end();
  })();
  // Chromium reads on as far as that.
  await expect.poll(() => written, { timeout: 180_000 }).toBeGreaterThan(54);
  await page.evaluate('new Promise((resolve) => setTimeout(resolve, 300))');
  expect(written).toBeLessThan(90);
  // All of it arrives, although it is larger than a message to the browser can be.
  await page.evaluate(`void (async () => {
    let bytes = 0;
    for (let part; !(part = await reader.read()).done; ) bytes += part.value.length;
    got.push(bytes);
  })()`);
  await sent;
  await seen(page).toEqual(['head', 100_000_000]);
});

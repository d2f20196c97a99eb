import type { IncomingMessage } from 'node:http';
import { expect, test } from '@playwright/test';
import { readRequest, socketRoute } from '../../../src/endpoint/routes.ts';

const PORT = 4000;
const TOKEN = 'secret';

function read(url: string, headers: Record<string, string> = {}) {
  const request = { url, headers: { host: `127.0.0.1:${PORT}`, ...headers } } as unknown as IncomingMessage;
  return readRequest(request, PORT, TOKEN);
}

function route(url: string) {
  const request = read(url);
  return typeof request === 'number' ? request : socketRoute(request);
}

test('needs the token', () => {
  for (const url of ['/', '/json/version', '/secre/json/version', '/secret2/json', '//secret/json', '/%73ecret/json']) {
    expect(read(url), url).toBe(404);
  }
  expect(read('/secret/json/version')).toMatchObject({ path: 'json/version' });
  expect(read('/secret/json/version/')).toMatchObject({ path: 'json/version' });
});

// An exception would end the process that watches over the run, and nobody needs the token to cause it.
test('refuses what is not an address', () => {
  for (const url of ['//', '//[', 'http://[']) expect(read(url), url).toBe(404);
});

test('refuses web pages, also with the token', () => {
  const url = '/secret/json/version';
  expect(read(url, { host: 'evil.example:4000' })).toBe(403);
  expect(read(url, { host: '' })).toBe(403);
  expect(read(url, { origin: 'https://evil.example' })).toBe(403);
  expect(read(url, { origin: 'null' })).toBe(403);
  expect(read(url, { origin: `http://127.0.0.1:${PORT}` })).toBe(403);
  expect(read(url, { 'sec-fetch-site': 'cross-site' })).toBe(403);
  expect(read(url, { 'sec-fetch-site': 'same-origin' })).toBe(403);
  expect(read(url, { host: 'localhost', 'sec-fetch-site': 'none' })).toMatchObject({ path: 'json/version' });
});

test('each WebSocket names a lease and what it speaks to', () => {
  expect(route('/secret/devtools/browser/a-1?pages=hidden')).toEqual({
    id: 'a-1',
    kind: 'browser',
    targetId: '',
    hidesPages: true,
    open: null,
  });
  expect(route('/secret/devtools/page/a-1.T2')).toMatchObject({ id: 'a-1', kind: 'page', targetId: 'T2' });
  expect(route('/secret/lease/b?open=about%3Ablank')).toMatchObject({ id: 'b', kind: 'lease', open: 'about:blank' });
  for (const path of ['devtools/page/a', 'devtools/browser/a.b', 'devtools/browser/', 'lease/a/b', 'json', 'x']) {
    expect(route(`/secret/${path}`), path).toBeNull();
  }
});

test('each connection to the bare address has its own lease', () => {
  const [one, other] = [route('/secret'), route('/secret/')];
  expect(one).toMatchObject({ kind: 'browser', id: expect.stringMatching(/^[\w-]{36}$/) });
  expect(one).not.toEqual(other);
});

import { expect, test } from '@playwright/test';
import { contentTypeOf } from '../../../../src/cdp/network/files/content-types.ts';
import { VisitedOrigins, visitedOriginOf } from '../../../../src/cdp/network/policy/visited-origins.ts';

const cases: [name: string, content: string | Buffer, type: string][] = [
  ['a.html', 'x', 'text/html'],
  ['A.HTM', 'x', 'text/html'],
  ['a.b.css', 'x', 'text/css'],
  ['a.mjs', 'x', 'text/javascript'],
  ['page', '\ufeff \n<!DOCTYPE html>x', 'text/html'],
  ['page', '<!-- x --><p>', 'text/html'],
  ['page', '<h2>x', 'text/plain'],
  ['page.unknown', '<?xml version="1.0"?>', 'text/xml'],
  ['page', '', 'text/plain'],
  ['page', 'text\twith ü', 'text/plain'],
  ['page', Buffer.from([1, 2, 3]), 'application/octet-stream'],
  ['page', '%PDF-1.7', 'application/pdf'],
];

for (const [name, content, type] of cases) {
  test(`gives a file ${name} that begins with ${JSON.stringify(String(content).slice(0, 20))} the type ${type}`, () => {
    expect(contentTypeOf(name, Buffer.from(content))).toBe(type);
  });
}

test('finds what is exposed when a test navigates to an address', () => {
  expect(visitedOriginOf('http://localhost:3000/a?b#c')).toBe('http://localhost:3000');
  for (const host of ['127.0.0.1', '127.8.0.1', '[::1]', '0.0.0.0', 'app.localhost', 'localhost']) {
    expect(visitedOriginOf(`https://${host}:8443/`)).toBe(`https://${host}:8443`);
  }
  for (const url of [
    'http://example.com/',
    'http://localhost.example.com/',
    'http://127.0.0.1.example.com/',
    'http://10.0.0.1/',
    'ws://localhost/',
    'ftp://localhost/',
    'about:blank',
    'data:text/html,x',
    'file://server/share/a.html',
    'no address',
    5,
    undefined,
  ]) {
    expect(visitedOriginOf(url), String(url)).toBeNull();
  }
  expect(visitedOriginOf('file:///no/such%20folder/page.html?a/b#c/d')).toBe('file:///no/such%20folder/');
  expect(visitedOriginOf('file:///no/such/../page.html')).toBe('file:///no/');
  expect(visitedOriginOf('file:///page.html')).toBe('file:///page.html');
});

test('finds whether an address is exposed', () => {
  const visited = new VisitedOrigins();
  expect(visited.add('http://localhost:3000')).toBe(true);
  expect(visited.add('http://localhost:3000')).toBe(false);
  expect(visited.add('file:///a/b/')).toBe(true);
  for (const url of [
    'http://localhost:3000/x',
    'ws://localhost:3000/x',
    'blob:http://localhost:3000/1-2',
    'file:///a/b/c/d.html?x',
    'file:///a/b/%2e%2e/b/c',
  ]) {
    expect(visited.has(url), url).toBe(true);
  }
  for (const url of [
    'https://localhost:3000/',
    'wss://localhost:3000/',
    'http://localhost:30000/',
    'http://localhost:3000.example/',
    'http://127.0.0.1:3000/',
    'http://localhost/',
    'file:///a/b',
    'file:///a/bc/d',
    'file:///a/b/../c',
    'file:///a/b/%2e%2e/c',
    'file:///a/b/.%2E/c',
    'file://host/a/b/c',
    'about:blank',
    '',
  ]) {
    expect(visited.has(url), url).toBe(false);
  }
});

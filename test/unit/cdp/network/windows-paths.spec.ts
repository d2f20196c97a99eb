import { expect, test } from '@playwright/test';
import { directoryPage } from '../../../../src/cdp/network/files/proxied-files.ts';
import { isFile } from '../../../../src/cdp/network/hosts/proxied-hosts.ts';
import { VisitedOrigins, visitedOriginOf } from '../../../../src/cdp/network/policy/visited-origins.ts';

/** What a runner on Windows proxies; the drives named here do not exist. */

test('exposes the directory of a page on a drive, but only the page itself at the root of a drive', () => {
  expect(visitedOriginOf('file:///C:/site/a%20b/page.html#x')).toBe('file:///C:/site/a%20b/');
  expect(visitedOriginOf('file:///C:/page.html')).toBe('file:///C:/page.html');
  expect(visitedOriginOf('file:///c:/page.html')).toBe('file:///C:/page.html');
});

test('finds the path that Chromium reports, however a test writes it', () => {
  const reported = 'file:///C:/site/';
  for (const url of [
    'file:///c:/site/a.html',
    'file:///C|/site/a.html',
    'file://C:\\site\\a.html',
    'file:///c:\\site\\a.html',
  ]) {
    expect(visitedOriginOf(url), url).toBe(reported);
  }
  const visited = new VisitedOrigins();
  visited.add(reported);
  expect(visited.has('file:///c:/site/b.css')).toBe(true);
  expect(visited.has('file:///C:/site/b.css')).toBe(true);
});

test('exposes nothing outside', () => {
  const visited = new VisitedOrigins();
  visited.add('file:///C:/site/');
  for (const url of [
    'file:///D:/site/a.html',
    'file:///C:/sites/a.html',
    'file:///C:/site/../secret.txt',
    'file:///C:/site/..\\secret.txt',
    'file:///C:/site/%2e%2e\\secret.txt',
    'file://server/C:/site/a.html', // a share: `\\server\C:\site`
    'file:////server/share/a.html',
  ]) {
    expect(visited.has(url), url).toBe(false);
  }
  expect(visitedOriginOf('file://server/share/page.html')).toBeNull();
  expect(isFile('file://server/share/page.html')).toBe(false);
  expect(isFile('file:///C:/page.html')).toBe(true);
});

test("shows a directory with its path and links in the system's notation", () => {
  const entries = [
    { name: 'b c.html', isDirectory: () => false },
    { name: 'a#', isDirectory: () => true },
  ];
  const windows = directoryPage('C:\\my site', entries, true);
  expect(windows).toContain('<title>Index of C:\\my site\\</title>');
  expect(hrefs(windows)).toEqual(['file:///C:/', 'file:///C:/my%20site/a%23/', 'file:///C:/my%20site/b%20c.html']);
  expect(hrefs(directoryPage('C:\\', [], true))).toEqual(['file:///C:/']);
  const unix = directoryPage('/my site/', [{ name: 'b\\c', isDirectory: () => false }], false);
  expect(unix).toContain('<title>Index of /my site/</title>');
  expect(hrefs(unix)).toEqual(['file:///', 'file:///my%20site/b%5Cc']);
});

function hrefs(page: string): string[] {
  return [...page.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => href);
}

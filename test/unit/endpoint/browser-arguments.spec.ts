import { expect, test } from '@playwright/test';
import { browserArguments } from '../../../src/endpoint/program/browser-arguments.ts';

test('a tool that uses a pipe', () => {
  const args = ['--headless', '--remote-debugging-pipe', '--user-data-dir=/tmp/a b', '--no-startup-window'];
  expect(browserArguments(args)).toEqual({
    asksVersion: false,
    pipe: true,
    port: null,
    userDataDir: '/tmp/a b',
    open: null,
    ignored: ['headless'],
  });
});

test('a tool that uses a port, and opens an address', () => {
  expect(browserArguments(['--remote-debugging-port=0', 'about:blank', 'example.com'])).toMatchObject({
    pipe: false,
    port: 0,
    open: 'http://example.com',
  });
  expect(browserArguments(['--remote-debugging-port=9222', 'data:,a=b']).open).toBe('data:,a=b');
  expect(browserArguments([]).open).toBe('about:blank');
  expect(browserArguments(['--version']).asksVersion).toBe(true);
});

test('refuses flags without which the result would be wrong', () => {
  for (const flag of ['--load-extension=/x', '--proxy-server=http://a:1', '--proxy-pac-url=http://a/b']) {
    expect(() => browserArguments([flag]), flag).toThrow('cannot have');
  }
  for (const flag of ['--dump-dom', '--screenshot=a.png', '--print-to-pdf']) {
    expect(() => browserArguments(['--headless', flag, 'about:blank']), flag).toThrow('cannot do');
  }
  // Tools pass it without a value to turn extensions off.
  expect(browserArguments(['--load-extension=']).ignored).toEqual(['load-extension']);
  for (const port of ['x', '65536', '-1', '']) {
    expect(() => browserArguments([`--remote-debugging-port=${port}`]), port).toThrow('0 to 65535');
  }
});

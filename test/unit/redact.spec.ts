import { expect, test } from '@playwright/test';
import { redactText } from '../../src/redact.ts';

test.describe('redactText', () => {
  test('cuts CDP addresses to their host', () => {
    expect(redactText('failed: ws://user:pw@127.0.0.1:9/devtools/abc?token=s3cret, retry')).toBe(
      'failed: ws://127.0.0.1:9/*** retry',
    );
  });

  test('masks credentials in URLs of any scheme, bearer tokens and named secrets', () => {
    expect(redactText('socks5://u:p@proxy:1080')).toBe('socks5://***@proxy:1080');
    expect(redactText('Authorization: Bearer abc.def')).toBe('Authorization: Bearer ***');
    expect(redactText('key is k-123456', ['k-123456'])).toBe('key is ***');
  });

  test('masks the secrets of this call, whichever lists came before', () => {
    const list = (call: number) => [`secret-${call}`, `s/${call}/`];
    for (const call of [...Array(20).keys(), 3, 19, 0]) {
      expect(redactText(`${list(call).join(' ')} ${encodeURIComponent(`s/${call}/`)} secret-x`, list(call))).toBe(
        '*** *** *** secret-x',
      );
    }
  });

  test('masks the parameters of an address that are named like a secret', () => {
    expect(redactText('at https://a.test/x?page=2&access_token=abc#api_key=d again')).toBe(
      'at https://a.test/x?page=2&access_token=***#api_key=*** again',
    );
  });

  test('leaves ordinary text alone', () => {
    const text = 'GET https://example.test/a?b=c responded with 200';
    expect(redactText(text, ['x'])).toBe(text);
  });

  test('takes time proportional to the length of any text', () => {
    for (const part of [
      'a-',
      'a.',
      '-',
      'a://',
      'x:y@',
      'http://u:',
      'socks5://',
      'ws',
      'bearer ',
      'a:1/',
      '?a',
      '?key=',
      '?key',
      '"<',
      '\\',
    ])
      expect(growth(part), `a run of ${part}`).toBeLessThan(16);
  });
});

/** What a text costs that is 64 times as long, over 64 short ones: 1 for linear work, 64 for quadratic. */
function growth(part: string): number {
  const text = (length: number) => part.repeat(Math.ceil(length / part.length));
  const [short, long] = [text(4_000), text(256_000)];
  cost(short, 64); // for the compiler
  return cost(long, 1) / cost(short, 64);
}

/**
 * The processor's time, in µs: that of this process only, whatever else the machine does. The least of several turns.
 */
function cost(text: string, times: number): number {
  const turns = Array.from({ length: 4 }, () => {
    const before = process.cpuUsage();
    for (let time = 0; time < times; time += 1) redactText(text);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  });
  return Math.min(...turns);
}
